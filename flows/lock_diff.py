"""Did two runs of the DAG end the same, as far as they can?

    python -m flows.lock_diff A B

A and B are workspaces or `dvc.lock` files. Commands, parameters and paths must be equal for every stage; digests for
the outs of the stages that give the same bytes every time, and for deps on them, but for outs marked `volatile`.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from flows.workspace import ROOT
from sluice.io import paths
from sluice.io.dvc_tool import read_stages

__all__ = ["differences", "main"]

_SAME_BYTES = {"validate", "prepare", "tune", "train", "capture", "export", "evaluate"}

Lock = Mapping[str, Any]


def differences(a: Lock, b: Lock, *, volatile: set[str]) -> Iterator[str]:
    """One line each; `a` and `b` are the `stages` of two lock files."""
    for name in sorted(a.keys() ^ b.keys()):
        yield f"{name}: only in {'A' if name in a else 'B'}"
    both = sorted(a.keys() & b.keys())
    outs = {out["path"]: name.partition("@")[0] in _SAME_BYTES for name in both for out in a[name].get("outs", [])}
    stable = {path for path, same in outs.items() if same and path not in volatile}
    for name in both:
        yield from _of_stage(name, a[name], b[name], stable=stable, moving=outs.keys() - stable)


def _of_stage(name: str, a: Lock, b: Lock, *, stable: set[str], moving: set[str]) -> Iterator[str]:
    for key in ("cmd", "params"):
        if a.get(key) != b.get(key):
            yield f"{name}: {key}: {a.get(key)} in A, {b.get(key)} in B"
    for key in ("deps", "outs"):
        in_a, in_b = ({item["path"]: item.get("md5") for item in lock.get(key, [])} for lock in (a, b))
        for path in sorted(in_a.keys() ^ in_b.keys()):
            yield f"{name}: {key}: {path} only in {'A' if path in in_a else 'B'}"
        for path in sorted(in_a.keys() & in_b.keys()):
            if in_a[path] != in_b[path] and _may_not_move(path, stable=stable, moving=moving):
                yield f"{name}: {key}: {path} is {in_a[path]} in A, {in_b[path]} in B"


def _may_not_move(path: str, *, stable: set[str], moving: set[str]) -> bool:
    """Whether `path` is made of stable outs alone."""
    return any(_touch(path, out) for out in stable) and not any(_touch(path, out) for out in moving)


def _touch(one: str, other: str) -> bool:
    return Path(one).is_relative_to(other) or Path(other).is_relative_to(one)


def _volatile(dag: Lock) -> set[str]:
    outs = (out for stage in dag.values() for out in stage.get("outs", []) if isinstance(out, dict))
    return {path for out in outs for path, about in out.items() if (about.get("meta") or {}).get("volatile")}


def main() -> int:
    """0 when they are equal by the rule, 1 with a line per difference, 2 when there are not two locks to compare."""
    files = [path / paths.LOCK if path.is_dir() else path for path in map(Path, sys.argv[1:])]
    missing = [str(file) for file in files if not file.exists()]
    if len(files) != 2 or missing:
        what = f"{', '.join(missing)} does not exist" if missing else "two workspaces are wanted"
        print(f"error: {what}. Write: make lock-diff A=PATH B=PATH", file=sys.stderr)
        return 2
    a, b = map(read_stages, files)
    found = list(differences(a, b, volatile=_volatile(read_stages(ROOT / paths.DAG))))
    print("\n".join(found) or f"equal: {len(a)} stages")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
