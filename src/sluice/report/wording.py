"""Numbers as people read them; a value that is absent or of another kind is a dash."""

from typing import Any, TypeGuard

__all__ = ["DASH", "bounds", "difference", "interval", "milliseconds", "percent", "plain", "ratio", "short"]

DASH = "\N{EN DASH}"


def percent(value: Any) -> str:
    return f"{value:.2%}".replace("%", " %") if _is_number(value) else DASH


def interval(value: Any) -> str:
    """`{value, low, high}` of a proportion: 91.20 % (90.63 to 91.74)."""
    if not isinstance(value, dict) or not _is_number(value.get("value")):
        return DASH
    around = bounds(value)
    return percent(value["value"]) if around == DASH else f"{percent(value['value'])} ({around})"


def difference(value: Any) -> str:
    """`{value, low, high}` of a difference of proportions: +0.40 % (-0.10 to 0.90)."""
    text = interval(value)
    return text if text.startswith(("-", DASH)) else f"+{text}"


def bounds(value: Any) -> str:
    """The interval alone, in percent: 90.63 to 91.74."""
    if not isinstance(value, dict):
        return DASH
    low, high = value.get("low"), value.get("high")
    return f"{low * 100:.2f} to {high * 100:.2f}" if _is_number(low) and _is_number(high) else DASH


def milliseconds(value: Any) -> str:
    return f"{value:.3g} ms" if _is_number(value) else DASH


def ratio(value: Any) -> str:
    """`{value, low, high}` of a ratio: 0.31 (0.29 to 0.33)."""
    if not isinstance(value, dict) or not _is_number(value.get("value")):
        return DASH
    low, high = value.get("low"), value.get("high")
    if not _is_number(low) or not _is_number(high):
        return f"{value['value']:.3g}"
    return f"{value['value']:.3g} ({low:.3g} to {high:.3g})"


def plain(value: Any) -> str:
    """Any value of a check or a parameter on one line."""
    if value is None or value in ([], {}, ""):
        return DASH
    if isinstance(value, bool):
        return str(value).lower()
    if _is_number(value):
        return str(value) if isinstance(value, int) else f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(plain(item) for item in value)
    if isinstance(value, dict):
        return ratio(value) if {"value", "low", "high"} <= value.keys() else ", ".join(map(_pair, value.items()))
    return str(value)


def short(digest: Any) -> str:
    return str(digest)[:12] if digest else DASH


def _pair(item: tuple[Any, Any]) -> str:
    return f"{item[0]} {plain(item[1])}"


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
