"""Names that MLflow takes, made from names that people give."""

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sluice.errors import ConfigError

__all__ = ["check_alias", "finite", "flatten", "slug", "slugs"]

_LONGEST = 100
_FORBIDDEN = re.compile(r"[^\w. /-]+", re.ASCII)
_RESERVED = re.compile(r"latest|v\d+", re.IGNORECASE)


def slug(name: str) -> str:
    """`name` if MLflow takes it as part of a metric's name, else its harmless part and six digits of its digest.

    The digits keep `c++` and `c#` apart; the same name always gives the same slug.
    """
    parts = [part.strip(" .") for part in _FORBIDDEN.sub("_", name).split("/")]
    harmless = "/".join(part for part in parts if part)
    if name and harmless == name and len(name) <= _LONGEST:
        return name
    digits = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{harmless[:_LONGEST]}-{digits}" if harmless else digits


def slugs(names: Iterable[str]) -> dict[str, str]:
    """Name -> slug for all `names`; store it, so that a slug can be read back."""
    return {name: slug(name) for name in names}


def finite(metrics: Mapping[str, float]) -> dict[str, float]:
    """The metrics that are numbers: MLflow loses NaN and turns infinity into 1.8e308."""
    return {key: float(value) for key, value in metrics.items() if math.isfinite(value)}


def flatten(values: Mapping[str, Any], *, prefix: str = "") -> dict[str, str]:
    """Nested sections as MLflow parameters: `{"train": {"epochs": 3}}` is `train.epochs` = "3"."""
    return {slug(key): value for key, value in _leaves(values, prefix)}


def _leaves(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)


def check_alias(alias: str) -> str:
    """Raises ConfigError for an alias that MLflow refuses or that `register` moves by itself."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,255}", alias):
        raise ConfigError(f"alias {alias!r} may hold only letters, digits, '_' and '-'. Write for example 'champion'.")
    if _RESERVED.fullmatch(alias) or alias == "candidate":
        raise ConfigError(f"alias {alias!r} is reserved. Choose another, for example 'champion'.")
    return alias
