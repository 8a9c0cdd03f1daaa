import os
from pathlib import Path

import pytest
from unit.tracking import judged

from sluice.commands.rollback import rollback
from sluice.errors import PromotionRefused
from sluice.tracking import lineage, registry
from sluice.tracking.promotions import champions, move, promotions
from sluice.tracking.register import register
from sluice.tracking.store import Store


@pytest.fixture
def store(workspace: Path) -> Store:
    """Versions 1 to 4 passed; 1, 2 and 3 were promoted one after the other."""
    store = judged.fresh_store(workspace)
    for seed in range(4):
        judged.write_all(seed=seed)
        register(store, judged.candidate())
    for number in (1, 2, 3):
        version = registry.version(store, name=judged.NAME, number=number)
        assert version
        move(store, name=judged.NAME, alias="champion", to=version, action="promote", forced=False, reason="")
    return store


def champion(store: Store) -> int | None:
    found = registry.at_alias(store, name=judged.NAME, alias="champion")
    return found.number if found else None


def test_rollback_goes_back_one_by_one(store: Store, workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each rollback gives the champion before, not the one just left; no file of the workspace is needed."""
    for folder in ("models", "reports", "data"):
        (workspace / folder).rename(workspace / f"{folder}-away")
    capsys.readouterr()
    rollback(judged.params(), reason="too slow")
    assert champion(store) == 2
    assert capsys.readouterr().out == "champion of shapes: version 3 -> version 2 (rolled back)\n"
    rollback(judged.params())
    assert champion(store) == 1
    with pytest.raises(PromotionRefused, match=r"'shapes' had no other champion before. .*sluice promote VERSION"):
        rollback(judged.params())
    last = promotions(store, name=judged.NAME)[3]
    assert (last.action, last.before, last.after, last.reason) == ("rollback", 3, 2, "too slow")


def test_rollback_to_a_version_takes_any_champion_of_the_past(store: Store) -> None:
    """--to names a version that was champion; any other has to be promoted."""
    rollback(judged.params(), to=1)
    assert champion(store) == 1
    rollback(judged.params(), to=3)
    assert champion(store) == 3
    assert champions(store, name=judged.NAME, alias="champion") == [1, 3]
    with pytest.raises(
        PromotionRefused, match=r"version 4 of 'shapes' never was champion; versions that were: \[1, 2, 3\]"
    ):
        rollback(judged.params(), to=4)
    rollback(judged.params(), to=3)
    assert len(promotions(store, name=judged.NAME)) == 5


def test_a_deleted_champion_leaves_the_way_back(store: Store) -> None:
    """F11: deleting the version takes the alias along without a word; rollback still knows who was before."""
    store.client.delete_model_version(judged.NAME, "3")
    assert champion(store) is None
    rollback(judged.params())
    assert champion(store) == 2


def test_a_deleted_predecessor_is_named(store: Store) -> None:
    """F11: nothing is skipped silently: the error names the deleted version and how to go further back."""
    store.client.delete_model_version(judged.NAME, "2")
    with pytest.raises(PromotionRefused, match=r"version 2 of 'shapes', the champion before, was deleted.*--to 1"):
        rollback(judged.params())
    with pytest.raises(PromotionRefused, match=r"version 2 of 'shapes' was deleted. Versions: \[1, 3, 4\]"):
        rollback(judged.params(), to=2)
    store.client.delete_model_version(judged.NAME, "1")
    with pytest.raises(PromotionRefused, match=r"was deleted. Promote another version."):
        rollback(judged.params())
    assert champion(store) == 3


def test_an_alias_moved_by_hand_does_not_confuse(store: Store) -> None:
    """Whoever moved the alias in MLflow's UI is not on record; the last champion on record is the one before."""
    store.client.set_registered_model_alias(judged.NAME, "champion", "4")
    rollback(judged.params())
    assert champion(store) == 3


def test_a_rollback_checks_what_it_brings_back(store: Store, workspace: Path) -> None:
    """A version whose files changed does not come back."""
    version = registry.version(store, name=judged.NAME, number=2)
    assert version
    run = workspace / "mlartifacts" / judged.NAME / version.run_id / "artifacts"
    (run / "models/trained/weights.safetensors").write_text("other")
    with pytest.raises(PromotionRefused, match="version 2: weights: recorded"):
        rollback(judged.params())
    assert champion(store) == 3


@pytest.mark.parametrize(("target", "status"), [("4", "KILLED"), ("3", "FINISHED")])
def test_a_promotion_that_was_killed_is_settled(store: Store, target: str, status: str) -> None:
    """kill -9 before the alias moved: it did not happen; after it: it did. No record stays RUNNING."""
    dead = {lineage.HOST: os.uname().nodename, lineage.PID: "1", lineage.STARTED: "1.00"}
    begun = {"sluice.action": "promote", "sluice.alias": "champion", "sluice.from": "2", "sluice.to": target}
    words = {"sluice.verdict": "PROMOTE", "sluice.forced": "false", "sluice.who": "me", "sluice.reason": ""}
    run = store.client.create_run(store.experiment("shapes-promotions"), tags=dead | begun | words)
    found = promotions(store, name=judged.NAME)
    assert store.client.get_run(run.info.run_id).info.status == status
    assert len(found) == (4 if status == "FINISHED" else 3)
