"""What `dvc repro` would run, and why. Nothing is run."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text
from ruamel.yaml import YAML

from sluice.io import dvc_tool, paths
from sluice.io.dag import Stage, read_dag

__all__ = ["plan"]

_ALWAYS = "always changed"
_LOOKS = "runs always, to look"
_NAMED = 2


def plan() -> None:
    """Print every stage that would run with its reasons, and the names of the others."""
    stages, status = read_dag(Path.cwd()), dvc_tool.changes()
    lock = dvc_tool.read_stages(paths.LOCK) if paths.LOCK.exists() else {}
    why: dict[str, list[str]] = {}
    for stage in stages:
        reasons = [line for change in status.get(stage.name, []) for line in _reasons(change, lock.get(stage.name))]
        reasons = reasons or _upstream(stage, why)
        if reasons:
            why[stage.name] = reasons
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 3, 0, 0))
    for name, reasons in why.items():
        table.add_row(Text(name), Text("\n".join(reasons)))
    console = Console(highlight=False)
    console.print(table)
    unchanged = [stage.name for stage in stages if stage.name not in why]
    console.print(Text(f"\nunchanged: {', '.join(unchanged) or 'none'}"))


def _reasons(change: Any, locked: Mapping[str, Any] | None) -> Iterator[str]:
    """One line for each thing of a stage that DVC found changed."""
    if locked is None:
        yield "has never run here"
    elif not isinstance(change, dict):
        yield _LOOKS if change == _ALWAYS else str(change)
    else:
        for kind, items in change.items():
            for name, what in items.items():
                yield from _of_item(kind.removeprefix("changed "), name, what, locked)


def _of_item(kind: str, name: str, what: Any, locked: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(what, dict):
        yield f"{name} {'is ' if kind == 'outs' else ''}{what}"
        return
    before = locked.get("params", {}).get(name, {})
    for key in what:
        now = _look_up(YAML(typ="safe", pure=True).load(Path(name).read_text(encoding="utf-8")), key)
        yield from _differences(key, before.get(key), now)


def _differences(key: str, before: Any, now: Any) -> Iterator[str]:
    """`train.epochs: 5 -> 3`, also where DVC names the whole section."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in sorted(before.keys() | now.keys()):
            if before.get(name) != now.get(name):
                yield from _differences(f"{key}.{name}", before.get(name), now.get(name))
    else:
        yield f"{key}: {_shown(before)} -> {_shown(now)}"


def _look_up(values: Any, key: str) -> Any:
    for part in key.split("."):
        values = values.get(part) if isinstance(values, dict) else None
    return values


def _shown(value: Any) -> str:
    return "absent" if value is None else json.dumps(value)


def _upstream(stage: Stage, why: Mapping[str, list[str]]) -> list[str]:
    """A stage that always runs mostly gives what it gave before, and then nothing follows."""
    causes = [name for name, reasons in why.items() if name in stage.after and reasons != [_LOOKS]]
    if len(causes) > _NAMED:
        causes = [*causes[:_NAMED], f"{len(causes) - _NAMED} more"]
    return [f"if something new comes from {', '.join(causes)}"] if causes else []
