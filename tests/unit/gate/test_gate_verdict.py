"""The one table of states, and what many checks come to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.gate.verdict import EXIT_CODES, check, decide

TABLE = {
    "ok": ("pass", "pass"),
    "no_champion": ("pass", "pass"),
    "inconclusive": ("HOLD", "noted"),
    "refused": ("REJECT", "noted"),
    "failed": ("REJECT", "noted"),
    "crashed": ("REJECT", "noted"),
    "timeout": ("REJECT", "noted"),
    "unsupported": ("REJECT", "noted"),
    "skipped": ("REJECT", "noted"),
    "unavailable": ("REJECT", "noted"),
    "built": ("REJECT", "noted"),
    "missing": ("REJECT", "noted"),
    "disagree": ("REJECT", "REJECT"),
    "a state of tomorrow": ("REJECT", "noted"),
}
BADNESS = {"PROMOTE": 0, "HOLD": 1, "REJECT": 2}


@pytest.mark.parametrize(("status", "counts"), TABLE.items())
def test_every_state_counts_as_the_table_says(status: str, counts: tuple[str, str]) -> None:
    """Required and not required, each state has its place; an unknown one is never a pass."""
    assert check("x", status, "why").counts_as == counts[0]
    assert check("x", status, "why", required=False).counts_as == counts[1]


def test_reject_beats_hold_and_hold_beats_pass() -> None:
    """One bad check decides, whatever the others say; what is noted decides nothing."""
    ok, hold, reject = (check("x", status, "") for status in ("ok", "inconclusive", "failed"))
    noted = check("x", "failed", "", required=False)
    assert decide([ok, noted]) == "PROMOTE"
    assert decide([hold, ok]) == "HOLD"
    assert decide([hold, reject, ok]) == "REJECT"


def test_nothing_checked_is_rejected() -> None:
    """An empty list of checks shows nothing."""
    assert decide([]) == "REJECT"


def test_exit_codes() -> None:
    """The codes that a CI relies on."""
    assert EXIT_CODES == {"PROMOTE": 0, "HOLD": 10, "REJECT": 11}


@given(st.lists(st.tuples(st.sampled_from(sorted(TABLE)), st.booleans()), min_size=1), st.data())
def test_a_worse_check_never_improves_the_verdict(states: list[tuple[str, bool]], data: st.DataObject) -> None:
    """The verdict is monotone: replacing one state by a worse one cannot help."""
    order = ["pass", "noted", "HOLD", "REJECT"]
    checks = [check("x", status, "", required=required) for status, required in states]
    at = data.draw(st.integers(0, len(checks) - 1))
    status, required = data.draw(st.tuples(st.sampled_from(sorted(TABLE)), st.booleans()))
    other = check("x", status, "", required=required)
    if order.index(other.counts_as) >= order.index(checks[at].counts_as):
        worse = [*checks[:at], other, *checks[at + 1 :]]
        assert BADNESS[decide(worse)] >= BADNESS[decide(checks)]
