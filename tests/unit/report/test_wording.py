from typing import Any

import pytest

from sluice.report.wording import DASH, bounds, difference, interval, milliseconds, percent, plain, ratio, short

SOME = {"value": 0.912, "low": 0.9, "high": 0.92}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (percent(0.912), "91.20 %"),
        (interval(SOME), "91.20 % (90.00 to 92.00)"),
        (interval({"value": 0.5, "low": None, "high": None}), "50.00 %"),
        (bounds(SOME), "90.00 to 92.00"),
        (difference({"value": 0.004, "low": -0.001, "high": 0.009}), "+0.40 % (-0.10 to 0.90)"),
        (difference({"value": -0.004, "low": -0.009, "high": 0.001}), "-0.40 % (-0.90 to 0.10)"),
        (milliseconds(0.1834), "0.183 ms"),
        (ratio(SOME), "0.912 (0.9 to 0.92)"),
        (plain(True), "true"),
        (plain(123456), "123456"),
        (plain(0.30000001), "0.3"),
        (plain([1, "a"]), "1, a"),
        (plain([]), DASH),
        (plain({"torch": "2.14.1", "timm": None}), f"torch 2.14.1, timm {DASH}"),
        (plain(SOME), "0.912 (0.9 to 0.92)"),
        (short("0123456789abcdef"), "0123456789ab"),
    ],
)
def test_numbers_read_well(words: str, said: str) -> None:
    """Percentages with two digits, intervals as from-to, digests by their head."""
    assert words == said


@pytest.mark.parametrize("value", [None, "text", True, [], {}, {"value": None}, float])
def test_what_is_no_number_is_a_dash(value: Any) -> None:
    """A report of another form never breaks a sentence."""
    assert {percent(value), interval(value), bounds(value), difference(value), milliseconds(value), ratio(value)} == {
        DASH
    }
