"""What a report was made from: the gate compares it with every other report and with the files on disk."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sluice.io import files, paths
from sluice.io.dvc_tool import read_stages

__all__ = ["Evidence", "code_digest"]

_SOURCE = Path(__file__).parents[2]


def code_digest(stage: str) -> str:
    """SHA-256 over the code that dvc.yaml names as deps of `stage`, or over the whole package without a dvc.yaml."""
    code = {file.relative_to(_SOURCE).as_posix(): files.digest_file(file) for file in _code_of(stage)}
    return files.digest_json(code)


def _code_of(stage: str) -> Iterator[Path]:
    deps = ["src/sluice"]
    if paths.DAG.exists():
        stages = read_stages(paths.DAG)
        deps = [dep for dep in stages.get(stage, {}).get("deps", deps) if dep.startswith("src/")]
    for dep in deps:
        path = _SOURCE / dep.removeprefix("src/")
        yield from [path] if path.is_file() else path.rglob("*.py")


def _environment() -> str | None:
    return files.digest_file(paths.ENVIRONMENT) if paths.ENVIRONMENT.exists() else None


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """`weights` and `exported` are SHA-256 of files; `split_digest` is that of the split's own `split.json`.

    Code (that of `stage`), params and environment are the stage's own: recorded, never compared.
    """

    stage: str
    weights: str | None
    split: str | None = None
    split_digest: str | None = None
    exported: Mapping[str, str] = field(default_factory=dict)
    params: str
    environment: str | None = field(default_factory=_environment)

    def as_json(self) -> dict[str, Any]:
        values = asdict(self) | {"exported": dict(self.exported), "code": code_digest(self.stage)}
        del values["stage"]
        return values
