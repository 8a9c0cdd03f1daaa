"""What a report was made from: the gate compares it with every other report and with the files on disk."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from sluice.io import files, paths

__all__ = ["Evidence", "code_digest"]


@cache
def code_digest() -> str:
    """SHA-256 over the Python files of this package."""
    package = Path(__file__).parents[1]
    return files.digest_json(
        {str(file.relative_to(package)): files.digest_file(file) for file in package.rglob("*.py")}
    )


def _environment() -> str | None:
    return files.digest_file(paths.ENVIRONMENT) if paths.ENVIRONMENT.exists() else None


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """`weights` and `exported` are SHA-256 of files; `split_digest` is that of the split's own `split.json`.

    `code`, `params` and `environment` are those of the stage that wrote the report: recorded, never compared.
    """

    weights: str
    split: str | None = None
    split_digest: str | None = None
    exported: Mapping[str, str] = field(default_factory=dict)
    params: str
    code: str = field(default_factory=code_digest)
    environment: str | None = field(default_factory=_environment)

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"exported": dict(self.exported)}
