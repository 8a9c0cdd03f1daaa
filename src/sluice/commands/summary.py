"""Verdict, accuracy, engines and version on one screen, and what to do next."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sluice.io import paths
from sluice.report import rows
from sluice.report.evidence import Found, collect, section
from sluice.report.wording import difference, interval, milliseconds, percent, plain

__all__ = ["summary"]

_COLOUR = {"PROMOTE": "bold green", "HOLD": "bold yellow", "REJECT": "bold red"}
_CHECKS_SHOWN = 8


def summary() -> None:
    """Read the reports of this workspace and print; what is absent is a dash."""
    found, console = collect(), Console(highlight=False, emoji=False)
    console.print(_headline(rows.verdict_word(found), found))
    for part in (_failing_checks(found), _facts(found), _engines(found), _steps(found)):
        if part.row_count:
            console.print(part)
            console.print()


def _headline(word: str, found: Found) -> Text:
    if word == "NONE":
        return Text("No verdict yet", style="bold")
    if found.stale:
        return Text(f"No verdict on this model: the last one, {word}, is about another. Run: dvc repro", style="bold")
    return Text(word, style=_COLOUR[word])


def _failing_checks(found: Found) -> Table:
    table = _grid()
    failing = [check for check in rows.checks(found) if check.get("counts_as") not in ("pass", "noted")]
    for check in failing[:_CHECKS_SHOWN]:
        name, reason = str(check.get("name")), str(check.get("reason") or "")
        table.add_row(Text(f"  {name}"), Text(plain(check.get("counts_as"))), Text(reason))
    if len(failing) > _CHECKS_SHOWN:
        table.add_row(Text(f"  and {len(failing) - _CHECKS_SHOWN} more"), Text(), Text(str(paths.REPORT)))
    return table


def _facts(found: Found) -> Table:
    table, metrics = _grid(), found.metrics or {}
    worst = section(metrics, "worst_class")
    table.add_row("accuracy", Text(interval(metrics.get("accuracy"))))
    table.add_row("balanced", Text(interval(metrics.get("balanced_accuracy"))))
    table.add_row("worst class", Text(f"{percent(worst.get('recall'))} {worst.get('name', '')}".rstrip()))
    table.add_row("champion", Text(_against_champion(found)))
    table.add_row("registry", Text(rows.registration(found)))
    table.add_row("parameters", Text(rows.tuning_story(found)))
    return table


def _against_champion(found: Found) -> str:
    compared = found.comparison
    if compared is None:
        return "not compared yet"
    champion = section(compared, "champion")
    if not champion:
        return "none yet"
    if compared.get("same"):
        return f"version {champion.get('version')}, which is this model"
    gain = section(compared, "accuracy", "difference")
    return f"version {champion.get('version')}, accuracy against it {difference(gain)}"


def _engines(found: Found) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    for heading in ("engine", "parity", "one sample", "ratio to eager", "accuracy"):
        table.add_column(heading)
    for row in rows.engine_rows(found):
        parity = "reference" if row.name == "eager" else plain(row.parity.get("status"))
        ratio = section(row.single, "ratio_to_eager").get("value")
        accuracy = section(row.scored, "accuracy").get("value")
        cells = (row.name, parity, milliseconds(row.single.get("median_ms")), plain(ratio), percent(accuracy))
        table.add_row(*map(Text, cells))
    return table


def _steps(found: Found) -> Table:
    table = _grid()
    page = [(str(paths.REPORT), "all of this, with figures")] if paths.REPORT.exists() else []
    for command, why in [*rows.next_steps(found), *page]:
        table.add_row(Text(command, style="bold"), Text(why))
    return table


def _grid() -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column(no_wrap=True)
    return table
