"""Make a version the champion: what the store recorded decides, never the workspace."""

from sluice.config import Params
from sluice.errors import PromotionRefused
from sluice.io.process import only_one
from sluice.tracking import promotions, registry, verification
from sluice.tracking.names import check_alias
from sluice.tracking.registry import CANDIDATE, CHAMPION, Version
from sluice.tracking.store import Store, open_store

__all__ = ["promote"]


def promote(
    params: Params,
    *,
    version: int | None = None,
    alias: str = CHAMPION,
    force: bool = False,
    reason: str | None = None,
) -> None:
    """Raises PromotionRefused unless the version was judged PROMOTE, or `force` comes with a reason."""
    name = params.registry.name
    check_alias(alias)
    store = open_store(params.tracking, make=False)
    with only_one("promotion"):
        chosen = _choose(store, name=name, version=version)
        now = registry.at_alias(store, name=name, alias=alias)
        if now is not None and now.number == chosen.number:
            print(f"version {chosen.number} of {name} is {alias} already.")
            return
        forced = _may_pass(chosen, force=force, reason=reason)
        verification.verify(store, chosen)
        done = promotions.move(
            store, name=name, alias=alias, to=chosen, action="promote", forced=forced, reason=reason or ""
        )
    before = f"version {done.before}" if done.before else "none"
    print(f"{alias} of {name}: {before} -> version {done.after} ({done.verdict}{', forced' if forced else ''})")


def _choose(store: Store, *, name: str, version: int | None) -> Version:
    exist = ", ".join(map(str, registry.versions(store, name=name))) or "none"
    if version is None:
        found = registry.at_alias(store, name=name, alias=CANDIDATE)
        if found is None:
            raise PromotionRefused(
                f"{name!r} has no version with alias {CANDIDATE!r}. Versions: {exist}. "
                "Make one with: dvc repro, or name one: sluice promote VERSION"
            )
        return found
    found = registry.version(store, name=name, number=version)
    if found is None:
        raise PromotionRefused(f"version {version} of {name!r} does not exist. Versions: {exist}.")
    return found


def _may_pass(chosen: Version, *, force: bool, reason: str | None) -> bool:
    """True when the verdict stands against the version and is overruled."""
    if chosen.verdict == "PROMOTE":
        return False
    if not force or not (reason or "").strip():
        raise PromotionRefused(
            f"version {chosen.number} was judged {chosen.verdict}. See why in reports/gate/verdict.json of run "
            f"{chosen.run_id}. To overrule it, on record: sluice promote {chosen.number} --force --reason '...'"
        )
    return True
