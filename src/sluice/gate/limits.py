"""The rules that turn numbers into states."""

from sluice.gate.reports import Range

__all__ = ["above", "difference_state", "half_width", "ratio_state"]


def above(value: float | None, floor: float) -> str:
    """`ok` at the floor or above it; a number that is not finite (None) is worse than any."""
    return "ok" if value is not None and value >= floor else "failed"


def difference_state(difference: Range | None, *, margin: float) -> str:
    """The whole interval above -margin is `ok`, below it `refused`, on both sides `inconclusive`."""
    bounds = _bounds(difference)
    if bounds is None:
        return "failed"
    low, high = bounds
    if low > -margin:
        return "ok"
    return "refused" if high < -margin else "inconclusive"


def ratio_state(ratio: Range | None, aa: Range | None, *, margin: float) -> str:
    """The whole interval below 1 + margin is `ok`, above it `refused`.

    Nothing is concluded where a model's ratio to itself (`aa`) is not within half the margin of 1.
    """
    bounds, sentinel = _bounds(ratio), _bounds(aa)
    if bounds is None:
        return "failed"
    if sentinel is None or not 1 - margin / 2 < sentinel[0] <= sentinel[1] < 1 + margin / 2:
        return "inconclusive"
    low, high = bounds
    if high < 1 + margin:
        return "ok"
    return "refused" if low > 1 + margin else "inconclusive"


def half_width(interval: Range) -> float:
    """The smallest difference that this many samples can show."""
    return ((interval.high or 0.0) - (interval.low or 0.0)) / 2


def _bounds(interval: Range | None) -> tuple[float, float] | None:
    if interval is None or interval.value is None or interval.low is None or interval.high is None:
        return None
    return (interval.low, interval.high) if interval.low <= interval.high else None
