"""What validation says: as JSON for other programs, as lines for the one who waits, as an error when it blocks."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from sluice.errors import DataError
from sluice.validation.judge import Finding, Judgement
from sluice.validation.rules import listed
from sluice.validation.tables import BROUGHT

__all__ = ["Summary", "refuse_blocked", "summarise"]


@dataclass(frozen=True, kw_only=True)
class Summary:
    accepted: int
    quarantined: Mapping[str, str]
    """Path to reason."""
    ignored: int
    turned: int
    """Samples set upright by the orientation that their file gives."""
    classes: Mapping[str, int]
    splits: Mapping[str, int]
    """Only those that the data bring."""
    findings: tuple[Finding, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "samples": self.accepted + len(self.quarantined),
            "accepted": self.accepted,
            "quarantined": [{"path": path, "reason": reason} for path, reason in self.quarantined.items()],
            "ignored": self.ignored,
            "turned": self.turned,
            "classes": dict(self.classes),
            "splits": dict(self.splits),
            "findings": [asdict(finding) for finding in self.findings],
        }

    def lines(self) -> list[str]:
        classes = listed([f"{name} ({count})" for name, count in self.classes.items()])
        splits = listed([f"{name} ({count})" for name, count in self.splits.items()])
        rows = {
            "samples": self.accepted + len(self.quarantined),
            "accepted": self.accepted,
            "quarantined": len(self.quarantined),
            "ignored": self.ignored,
            "set upright": self.turned,
            "classes": f"{len(self.classes)}: {classes}",
            "splits": splits or "none brought",
        }
        warnings = [finding for finding in self.findings if finding.severity == "warn"]
        return [f"{name:<12} {value}" for name, value in rows.items()] + [
            f"warning: {item.message}" for item in warnings
        ]


def summarise(
    index: pd.DataFrame, *, quarantined: Mapping[str, str], ignored: int, turned: int, judgement: Judgement
) -> Summary:
    classes = index["label"].value_counts().sort_index()
    splits = index["split"].value_counts()
    return Summary(
        accepted=len(index),
        quarantined=quarantined,
        ignored=ignored,
        turned=turned,
        classes={str(name): int(count) for name, count in classes.items()},
        splits={name: int(splits[name]) for name in BROUGHT if name in splits},
        findings=judgement.findings,
    )


def refuse_blocked(judgement: Judgement) -> None:
    """Raises DataError with every finding that blocks, one on a line."""
    if not judgement.blocking:
        return
    count = len(judgement.blocking)
    lines = [f"data/raw has {count} problem{'s' if count > 1 else ''} that block{'' if count > 1 else 's'}:"]
    lines += [f"  {finding.rule}: {finding.message}" for finding in judgement.blocking]
    raise DataError("\n".join(lines))
