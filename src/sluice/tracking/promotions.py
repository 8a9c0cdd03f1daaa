"""Who made what champion, when and why: the one record that MLflow's aliases do not keep."""

import getpass
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from mlflow.entities import Run

from sluice.errors import PromotionRefused
from sluice.tracking import lineage, registry
from sluice.tracking.live import LiveRun
from sluice.tracking.registry import Version
from sluice.tracking.store import Store, refusals

__all__ = ["Promotion", "champion_before", "champions", "move", "promotions"]

Action = Literal["promote", "rollback"]
_NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Promotion:
    """`before` is the version that had the alias, None when there was none."""

    action: str
    alias: str
    before: int | None
    after: int
    verdict: str
    forced: bool
    who: str
    when: datetime
    reason: str


def promotions(store: Store, *, name: str) -> list[Promotion]:
    """All that took effect, oldest first."""
    return [_read(run) for run in _settled(store, name) if run.info.status == "FINISHED"]


def move(store: Store, *, name: str, alias: str, to: Version, action: Action, forced: bool, reason: str) -> Promotion:
    """Move the alias, with a record that is begun before and ended after, so that a kill between leaves the truth."""
    _settled(store, name)
    before = registry.at_alias(store, name=name, alias=alias)
    tags = {
        "sluice.action": action,
        "sluice.alias": alias,
        "sluice.from": str(before.number) if before else _NONE,
        "sluice.to": str(to.number),
        "sluice.verdict": to.verdict,
        "sluice.weights": to.weights,
        "sluice.forced": str(forced).lower(),
        "sluice.who": _who(),
        "sluice.reason": reason,
    }
    with refusals(store.uri):
        experiment = store.experiment(f"{name}-promotions")
        tags |= lineage.process_tags()
        run = store.client.create_run(experiment, tags=tags, run_name=f"{action} {alias} to {to.number}")
        with LiveRun(store, run):
            store.client.set_registered_model_alias(name, alias, str(to.number))
    return _read(run)


def champions(store: Store, *, name: str, alias: str) -> list[int]:
    """Versions that the alias was given to and not taken back from by a rollback, the newest last."""
    line: list[int] = []
    for each in promotions(store, name=name):
        if each.alias == alias:
            if each.action == "rollback" and each.after in line:
                del line[line.index(each.after) :]
            line = [number for number in line if number != each.after] + [each.after]
    return line


def champion_before(store: Store, *, name: str, alias: str) -> int:
    """The version to go back to; PromotionRefused when there is none, or it was deleted."""
    now = registry.at_alias(store, name=name, alias=alias)
    line = champions(store, name=name, alias=alias)
    exist = registry.versions(store, name=name)
    if now is None and line and line[-1] not in exist:
        line = line[:-1]  # deleting a version takes its aliases along without a word
    earlier = [number for number in line if now is None or number != now.number]
    if not earlier:
        raise PromotionRefused(f"{name!r} had no other {alias} before. Promote a version with: sluice promote VERSION")
    if earlier[-1] not in exist:
        others = [number for number in earlier if number in exist]
        remedy = f"Go back further with: sluice rollback --to {others[-1]}" if others else "Promote another version."
        raise PromotionRefused(f"version {earlier[-1]} of {name!r}, the {alias} before, was deleted. {remedy}")
    return earlier[-1]


def _settled(store: Store, name: str) -> list[Run]:
    """All records, oldest first, with the unfinished ones of dead processes ended as the alias says they did."""
    with refusals(store.uri):
        experiment = store.experiment(f"{name}-promotions")
        settled = [_settle(store, name, run) for run in _all_runs(store, experiment)]
        return sorted(settled, key=lambda run: run.info.start_time)


def _all_runs(store: Store, experiment: str) -> Iterator[Run]:
    token: str | None = ""
    while token is not None:
        page = store.client.search_runs([experiment], page_token=token or None)
        yield from page
        token = page.token or None


def _settle(store: Store, name: str, run: Run) -> Run:
    tags = run.data.tags
    if run.info.status != "RUNNING" or lineage.is_alive(tags) is not False:
        return run
    now = registry.at_alias(store, name=name, alias=tags["sluice.alias"])
    took_effect = now is not None and str(now.number) == tags["sluice.to"]
    store.client.set_terminated(run.info.run_id, status="FINISHED" if took_effect else "KILLED")
    return store.client.get_run(run.info.run_id)


def _read(run: Run) -> Promotion:
    tags = run.data.tags
    return Promotion(
        action=tags["sluice.action"],
        alias=tags["sluice.alias"],
        before=None if tags["sluice.from"] == _NONE else int(tags["sluice.from"]),
        after=int(tags["sluice.to"]),
        verdict=tags["sluice.verdict"],
        forced=tags["sluice.forced"] == "true",
        who=tags["sluice.who"],
        when=datetime.fromtimestamp(run.info.start_time / 1000, tz=UTC),
        reason=tags["sluice.reason"],
    )


def _who() -> str:
    """A container may know its user's number alone."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):
        user = str(os.getuid())
    return f"{user}@{os.uname().nodename}"
