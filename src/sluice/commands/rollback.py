"""Give the alias back to a version that had it; no data and no workspace are needed."""

from sluice.config import Params
from sluice.errors import PromotionRefused
from sluice.io.process import only_one
from sluice.tracking import promotions, registry, verification
from sluice.tracking.names import check_alias
from sluice.tracking.registry import CHAMPION
from sluice.tracking.store import open_store

__all__ = ["rollback"]


def rollback(params: Params, *, to: int | None = None, alias: str = CHAMPION, reason: str | None = None) -> None:
    """Raises PromotionRefused when `to`, or the champion before, is gone, never was champion, or fails its checks."""
    name = params.registry.name
    check_alias(alias)
    store = open_store(params.tracking, make=False)
    with only_one("promotion"):
        number = promotions.champion_before(store, name=name, alias=alias) if to is None else to
        once = sorted({each.after for each in promotions.promotions(store, name=name) if each.alias == alias})
        if number not in once:
            raise PromotionRefused(
                f"version {number} of {name!r} never was {alias}; versions that were: {once or 'none'}. "
                f"Promote it instead: sluice promote {number}"
            )
        chosen = registry.version(store, name=name, number=number)
        if chosen is None:
            raise PromotionRefused(
                f"version {number} of {name!r} was deleted. Versions: {registry.versions(store, name=name)}"
            )
        now = registry.at_alias(store, name=name, alias=alias)
        if now is not None and now.number == number:
            print(f"version {number} of {name} is {alias} already.")
            return
        verification.verify(store, chosen)
        done = promotions.move(
            store, name=name, alias=alias, to=chosen, action="rollback", forced=False, reason=reason or ""
        )
    before = f"version {done.before}" if done.before else "none"
    print(f"{alias} of {name}: {before} -> version {done.after} (rolled back)")
