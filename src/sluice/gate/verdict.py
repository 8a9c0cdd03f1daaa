"""What a check says, what its state counts for, and what all of them come to."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

__all__ = ["EXIT_CODES", "Check", "Decision", "Verdict", "check", "decide"]

Decision = Literal["PROMOTE", "HOLD", "REJECT"]
CountsAs = Literal["pass", "HOLD", "REJECT", "noted"]

EXIT_CODES: dict[Decision, int] = {"PROMOTE": 0, "HOLD": 10, "REJECT": 11}

_COUNTS_AS: dict[str, tuple[CountsAs, CountsAs]] = {  # state: (when required, when not)
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
}
_UNKNOWN: tuple[CountsAs, CountsAs] = ("REJECT", "noted")

Value = float | str | None


@dataclass(frozen=True)
class Check:
    name: str
    status: str
    counts_as: CountsAs
    value: Value
    limit: Value
    reason: str


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """`champion` is version and weights of the model that is in production; `repeated`: it is the candidate itself."""

    verdict: Decision
    checks: tuple[Check, ...]
    weights: str | None
    exported: dict[str, str]
    champion: dict[str, Any] | None
    repeated: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "checks": [asdict(one) for one in self.checks],
            "candidate": {"weights": self.weights, "exported": self.exported},
            "champion": self.champion,
            "repeated": self.repeated,
        }


def check(
    name: str, status: str, reason: str, *, required: bool = True, value: Value = None, limit: Value = None
) -> Check:
    counts_as = _COUNTS_AS.get(status, _UNKNOWN)[0 if required else 1]
    return Check(name, status, counts_as, value, limit, reason)


def decide(checks: Sequence[Check]) -> Decision:
    """Any REJECT beats any HOLD. Nothing checked is nothing shown."""
    found = {one.counts_as for one in checks}
    if "REJECT" in found or not checks:
        return "REJECT"
    return "HOLD" if "HOLD" in found else "PROMOTE"
