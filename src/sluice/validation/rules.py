"""Every data rule as one expectation with a severity; the first ones make sure that there is something to judge."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from great_expectations.expectations.core.expect_column_values_to_be_between import ExpectColumnValuesToBeBetween
from great_expectations.expectations.core.expect_column_values_to_be_in_set import ExpectColumnValuesToBeInSet
from great_expectations.expectations.core.expect_column_values_to_be_unique import ExpectColumnValuesToBeUnique
from great_expectations.expectations.core.expect_column_values_to_match_regex import ExpectColumnValuesToMatchRegex
from great_expectations.expectations.core.expect_column_values_to_not_be_null import ExpectColumnValuesToNotBeNull
from great_expectations.expectations.expectation import Expectation

from sluice.config.data import ValidateConfig
from sluice.validation.tables import BROUGHT, NUMBERS, TEXT, DataSet, Tables

__all__ = ["Check", "Rule", "Severity", "listed", "rules_of"]

Severity = Literal["block", "warn"]
_SHOWN = 10
_RANGES = {  # lowest, highest; pixels are 0 to 255, so their standard deviation is at most half of it
    "width": (1.0, None),
    "height": (1.0, None),
    "channels": (1.0, 4.0),
    "mean": (0.0, 255.0),
    "std": (0.0, 127.5),
}


@dataclass(frozen=True)
class Check:
    kind: Callable[..., Expectation]
    column: str
    limits: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Rule:
    name: str
    table: Literal["data_set", "classes", "samples"]
    severity: Severity
    check: Check
    problem: str
    """What is wrong when the expectation fails; the judge adds the rows of `classes` or `samples` at fault."""
    remedy: str


def rules_of(tables: Tables, *, quarantined: Mapping[str, str], config: ValidateConfig) -> list[Rule]:
    """In the order of their findings."""
    facts = tables.data_set
    return [
        *_presence(facts),
        *_quarantine(facts, quarantined=quarantined, config=config),
        *_equal_samples(facts, config=config),
        *_classes(tables, config=config),
        *_samples(),
    ]


def listed(items: Sequence[str], *, total: int | None = None) -> str:
    """The first few, and how many more there are; `total` where `items` are not all."""
    shown = items[:_SHOWN]
    more = (len(items) if total is None else total) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _between(column: str, *, low: float | None = None, high: float | None = None) -> Check:
    return Check(ExpectColumnValuesToBeBetween, column, {"min_value": low, "max_value": high})


def _presence(facts: DataSet) -> list[Rule]:
    rule = partial(Rule, table="data_set", severity="block")
    return [
        rule(
            name="samples",
            check=_between("samples", low=1),
            problem=f"data/raw has no sample that can be used ({facts.quarantined} quarantined)",
            remedy="Put data there and check data.source.",
        ),
        rule(
            name="classes",
            check=_between("classes", low=2),
            problem=f"data/raw has {facts.classes} class(es) with accepted samples, and learning needs 2",
            remedy="Check the folders or the label file.",
        ),
        rule(
            name="training_samples",
            check=_between("learnable", low=min(1, facts.samples)),
            problem="data/raw brings a val or test split but no sample to train on",
            remedy="Bring a train split too.",
        ),
    ]


def _quarantine(facts: DataSet, *, quarantined: Mapping[str, str], config: ValidateConfig) -> list[Rule]:
    rule = partial(Rule, table="data_set")
    reasons = listed([f"{path} ({reason})" for path, reason in quarantined.items()])
    count = f"{facts.quarantined} of {facts.samples + facts.quarantined} samples cannot be read"
    emptied = rule(
        name="emptied_folders",
        severity="block",
        check=_between("emptied_folders", high=0),
        problem=f"every sample is unreadable in {listed(facts.emptied_folders)}",
        remedy="Replace the files, or remove the folder if the class is to go.",
    )
    if config.quarantine == "refuse":
        refused = rule(
            name="quarantined",
            severity="block",
            check=_between("quarantined", high=0),
            problem=f"{count}: {reasons}",
            remedy="Repair or remove them, or set validate.quarantine to 'skip'.",
        )
        return [refused, emptied]
    share = rule(
        name="quarantined_share",
        severity="block",
        check=_between("quarantined_share", high=config.max_quarantined_share),
        problem=f"{count}, more than validate.max_quarantined_share allows ({config.max_quarantined_share}): {reasons}",
        remedy="Repair or remove them, or raise the limit.",
    )
    skipped = rule(
        name="quarantined",
        severity="warn",
        check=_between("quarantined", high=0),
        problem=f"{count} and are left out: {reasons}",
        remedy="Repair or remove them.",
    )
    return [share, emptied, skipped]


def _equal_samples(facts: DataSet, *, config: ValidateConfig) -> list[Rule]:
    across, conflicts = facts.cross_split_duplicates, facts.conflicting_labels
    return [
        Rule(
            name="cross_split_duplicates",
            table="data_set",
            severity=config.cross_split_duplicates,
            check=_between("cross_split_duplicates", high=0),
            problem=f"{len(across)} image(s) stand in more than one split: {listed(across)}",
            remedy="Remove one side: scores on them say nothing. validate.cross_split_duplicates: warn lets them pass.",
        ),
        Rule(
            name="conflicting_labels",
            table="data_set",
            severity="warn",
            check=_between("conflicting_labels", high=0),
            problem=f"{len(conflicts)} image(s) have more than one label: {listed(conflicts)}",
            remedy="Keep the right label of each.",
        ),
    ]


def _classes(tables: Tables, *, config: ValidateConfig) -> list[Rule]:
    least = config.min_samples_per_class
    rule = partial(Rule, table="classes")
    rules = [
        rule(
            name="samples_per_class",
            severity="block",
            check=_between("samples", low=least),
            problem=f"fewer accepted samples than validate.min_samples_per_class ({least}) in class",
            remedy="Add samples, remove the class, or lower the limit.",
        ),
        rule(
            name="unknown_classes",
            severity="block",
            check=_between("learnable", low=1),
            problem="no training sample, though val or test has some, in class",
            remedy="Add training samples or remove the class from the other splits.",
        ),
    ]
    rules += [
        rule(
            name=f"classes_in_{split}",
            severity="warn",
            check=_between(split, low=1),
            problem=f"no sample in the {split} split, so nothing can be said there, of class",
            remedy=f"Add samples to {split}.",
        )
        for split in BROUGHT[1:]
        if split in tables.classes
    ]
    imbalance = Rule(
        name="imbalance",
        table="data_set",
        severity="warn",
        check=_between("imbalance", high=config.imbalance_warning),
        problem=f"the largest class is {tables.data_set.imbalance:.1f} times the smallest ({_extremes(tables)})",
        remedy="Judge by balanced accuracy and recall per class; gate.floors has both.",
    )
    return [*rules, imbalance]


def _extremes(tables: Tables) -> str:
    by_size = tables.classes.sort_values(["samples", "label"])
    ends = [f"{row.label}: {row.samples}" for row in by_size.iloc[[-1, 0]].itertuples()] if len(by_size) else []
    return ", ".join(ends)


def _samples() -> list[Rule]:
    rule = partial(
        Rule, table="samples", severity="block", remedy="The source of data.source makes this index: check its files."
    )
    blank = Rule(
        name="blank",
        table="samples",
        severity="warn",
        check=Check(ExpectColumnValuesToBeBetween, "std", {"min_value": 0.0, "strict_min": True}),
        problem="an image of one single grey value",
        remedy="Look at them: blank images teach nothing.",
    )
    return [
        rule(
            name="unique",
            check=Check(ExpectColumnValuesToBeUnique, "sample"),
            problem="a sample id stands twice",
        ),
        *(
            rule(
                name=f"{column}_given",
                check=Check(ExpectColumnValuesToNotBeNull, column),
                problem=f"no {column}",
            )
            for column in (*TEXT, *NUMBERS)
        ),
        rule(
            name="label_text",
            check=Check(ExpectColumnValuesToMatchRegex, "label", {"regex": r"\S"}),
            problem="a blank label",
        ),
        rule(
            name="split_known",
            check=Check(ExpectColumnValuesToBeInSet, "split", {"value_set": ["", *BROUGHT]}),
            problem=f"a split other than {', '.join(BROUGHT)}",
        ),
        *(
            rule(
                name=f"{column}_range",
                check=_between(column, low=low, high=high),
                problem=f"{column} below {low:g}" if high is None else f"{column} outside {low:g} to {high:g}",
            )
            for column, (low, high) in _RANGES.items()
        ),
        blank,
    ]
