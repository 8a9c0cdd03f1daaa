"""What a run of the pipeline did, for people: stages, how they ended, and the verdict."""

from collections.abc import Mapping, Sequence
from typing import Any

from prefect.client.schemas.objects import State

from sluice.errors import MissingArtifact
from sluice.io import files, paths
from sluice.io.dag import Stage

__all__ = ["markdown"]


def markdown(stages: Sequence[Stage], states: Mapping[str, State[Any]]) -> str:
    lines = ["| stage | state | |", "|---|---|---|"]
    for stage in stages:
        state = states[stage.name]
        lines.append(f"| {stage.name} | {state.name} | {_first_line(state.message)} |")
    return "\n".join([*lines, "", *_verdict()])


def _verdict() -> list[str]:
    try:
        verdict = files.read_json(paths.VERDICT)
        rows = [(one["name"], one["counts_as"], one["value"], one["limit"], one["reason"]) for one in verdict["checks"]]
        word = verdict["verdict"]
    except (MissingArtifact, KeyError, TypeError):
        return ["There is no verdict."]
    table = ["| " + " | ".join("" if cell is None else _first_line(str(cell)) for cell in row) + " |" for row in rows]
    return [
        f"Verdict: **{word}**",
        "",
        "| check | counts as | value | limit | reason |",
        "|---|---|---|---|---|",
        *table,
    ]


def _first_line(text: str | None) -> str:
    return (text or "").partition("\n")[0].replace("|", "\\|")
