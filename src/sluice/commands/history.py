"""Who promoted what, when and why."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sluice.config import Params
from sluice.tracking.promotions import Promotion, promotions
from sluice.tracking.store import open_store

__all__ = ["history"]

_COLUMNS = ("when (UTC)", "what", "alias", "version", "verdict", "who", "why")


def history(params: Params) -> None:
    name = params.registry.name
    found = promotions(open_store(params.tracking, make=False), name=name)
    if not found:
        print(f"nothing was promoted for {name} yet. Promote the candidate with: sluice promote")
        return
    table = Table(title=f"Promotions of {name}", box=None, padding=(0, 2, 0, 0), title_justify="left")
    for column in _COLUMNS:
        table.add_column(column, overflow="fold", no_wrap=column.startswith("when"))
    for each in found:
        table.add_row(*(Text(cell) for cell in _row(each)))  # Text: a reason may hold what looks like markup
    Console().print(table)


def _row(each: Promotion) -> tuple[str, ...]:
    return (
        f"{each.when:%Y-%m-%d %H:%M}",
        each.action,
        each.alias,
        str(each.after) if each.before is None else f"{each.before} -> {each.after}",
        f"{each.verdict} (forced)" if each.forced else each.verdict,
        each.who,
        each.reason or "-",
    )
