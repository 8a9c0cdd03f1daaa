"""Great Expectations run over the tables: what fails, how severely, and in whose words."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import great_expectations as gx
import pandas as pd
from great_expectations.core import ExpectationSuiteValidationResult, ExpectationValidationResult
from great_expectations.data_context.types.base import ProgressBarsConfig
from great_expectations.expectations.expectation import Expectation

from sluice.config.data import ValidateConfig
from sluice.errors import SluiceError
from sluice.validation.rules import Rule, Severity, listed, rules_of
from sluice.validation.tables import Tables, build_tables

__all__ = ["Finding", "Judgement", "judge"]

_KEYS = {"samples": "sample", "classes": "label"}
_GX_SEVERITY = {"block": "critical", "warn": "warning"}


@dataclass(frozen=True)
class Finding:
    rule: str
    severity: Severity
    message: str


@dataclass(frozen=True, kw_only=True)
class Judgement:
    findings: tuple[Finding, ...]
    results: Mapping[str, ExpectationSuiteValidationResult]
    """Per table, as Great Expectations gave them: for the data docs."""

    @property
    def blocking(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "block")


def judge(index: pd.DataFrame, *, quarantined: Mapping[str, str], config: ValidateConfig) -> Judgement:
    """`index` has the columns of data/index.parquet; `quarantined` maps paths to reasons."""
    tables = build_tables(index, quarantined=quarantined)
    rules = rules_of(tables, quarantined=quarantined, config=config)
    results = _run(_frames(tables), rules=rules)
    outcomes = {_rule_name(outcome): outcome for result in results.values() for outcome in result.results}
    missing = [rule.name for rule in rules if rule.name not in outcomes]
    if missing:
        raise SluiceError(
            f"great_expectations left out {', '.join(missing)}; this is a fault of Sluice, please report it"
        )
    # `success` of a whole suite is False for a mere warning, so each outcome counts with its rule's own severity.
    failed = [(rule, outcomes[rule.name]) for rule in rules if not outcomes[rule.name].success]
    findings = [Finding(rule.name, _severity(rule, outcome), _message(rule, outcome)) for rule, outcome in failed]
    return Judgement(findings=tuple(findings), results=results)


def _frames(tables: Tables) -> dict[str, pd.DataFrame]:
    facts = {name: len(value) if isinstance(value, tuple) else value for name, value in asdict(tables.data_set).items()}
    return {
        "data_set": pd.DataFrame([facts]).astype("float64"),
        "classes": tables.classes,
        "samples": tables.samples,
    }


def _run(frames: Mapping[str, pd.DataFrame], *, rules: list[Rule]) -> dict[str, ExpectationSuiteValidationResult]:
    context = gx.get_context(mode="ephemeral")
    context.enable_analytics(False)
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    source = context.data_sources.add_pandas("index")
    results = {}
    for table, frame in frames.items():
        expectations = [_expectation(rule) for rule in rules if rule.table == table]
        if not expectations:
            raise SluiceError(f"no rule judges the table {table!r}, and an empty suite passes anything")
        batch = (
            source.add_dataframe_asset(table)
            .add_batch_definition_whole_dataframe("all")
            .get_batch({"dataframe": frame})
        )
        suite = gx.ExpectationSuite(name=table, expectations=expectations)
        keys = [_KEYS[table]] if table in _KEYS else []
        results[table] = batch.validate(
            suite, result_format={"result_format": "SUMMARY", "unexpected_index_column_names": keys}
        )
    return results


def _expectation(rule: Rule) -> Expectation:
    limits = {name: value for name, value in rule.check.limits.items() if value is not None}
    words = [f"{rule.name} ({rule.severity})", *(f"{name} {value}" for name, value in limits.items())]
    return rule.check.kind(
        column=rule.check.column,
        severity=_GX_SEVERITY[rule.severity],
        description=", ".join(words),
        meta={"rule": rule.name},
        **limits,
    )


def _rule_name(outcome: ExpectationValidationResult) -> str:
    assert outcome.expectation_config is not None
    return str(outcome.expectation_config.meta["rule"])


def _severity(rule: Rule, outcome: ExpectationValidationResult) -> Severity:
    return "block" if _raised(outcome) else rule.severity


def _message(rule: Rule, outcome: ExpectationValidationResult) -> str:
    if raised := _raised(outcome):
        return f"the rule {rule.name!r} could not be judged: {raised}"
    if rule.table not in _KEYS:
        return f"{rule.problem}. {rule.remedy}"
    rows = [_row(row, key=_KEYS[rule.table]) for row in outcome.result["partial_unexpected_index_list"]]
    return f"{rule.problem}: {listed(rows, total=outcome.result['unexpected_count'])}. {rule.remedy}"


def _row(row: Mapping[str, Any], *, key: str) -> str:
    """`cat (1)`: the key of the row and, where the rule is about another column, the value."""
    values = [
        f"{value:g}" if isinstance(value, float) else str(value) for column, value in row.items() if column != key
    ]
    return " ".join([str(row[key]), *(f"({value})" for value in values)])


def _raised(outcome: ExpectationValidationResult) -> str:
    info = outcome.exception_info or {}
    nested = [info] if "raised_exception" in info else list(info.values())
    return "; ".join(str(item["exception_message"]) for item in nested if item["raised_exception"])
