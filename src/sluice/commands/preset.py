"""Take one of the whole files in params/ as params.yaml."""

import difflib
import shutil
import subprocess

from sluice.errors import ConfigError
from sluice.io import files, paths

__all__ = ["use"]


def use(name: str) -> None:
    """Copy params/<name>.yaml to params.yaml; ConfigError when that would lose changes that stand nowhere else."""
    presets = {path.stem: path for path in sorted(paths.PRESETS.glob("*.yaml"))}
    if name not in presets:
        nearest = difflib.get_close_matches(name, presets, n=1)
        hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
        raise ConfigError(f"preset {name!r} does not exist in {paths.PRESETS}/: there are {', '.join(presets)}.{hint}")
    wanted = presets[name].read_bytes()
    if paths.PARAMS.exists() and paths.PARAMS.read_bytes() != wanted:
        _refuse_to_lose(known=[path.read_bytes() for path in presets.values()])
    with files.atomic_file(paths.PARAMS) as temporary:
        shutil.copyfile(presets[name], temporary)
    print(f"{paths.PARAMS} is now the preset {name}.")


def _refuse_to_lose(*, known: list[bytes]) -> None:
    now = paths.PARAMS.read_bytes()
    if now in known or now == _committed():
        return
    raise ConfigError(
        f"{paths.PARAMS} has changes that are in no commit and no preset. Keep them with: git commit {paths.PARAMS}, "
        f"or as a preset of your own: cp {paths.PARAMS} {paths.PRESETS}/mine.yaml"
    )


def _committed() -> bytes | None:
    """The content of params.yaml in HEAD; None without git or without a commit that has it."""
    try:
        shown = subprocess.run(["git", "show", f"HEAD:./{paths.PARAMS}"], capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return shown.stdout if shown.returncode == 0 else None
