import sqlite3
from pathlib import Path

import pytest
from unit.tracking import judged

from sluice.commands.promote import promote
from sluice.errors import ConfigError, PromotionRefused, TrackingError
from sluice.io import files, paths
from sluice.tracking import registry
from sluice.tracking.promotions import promotions
from sluice.tracking.register import register
from sluice.tracking.store import Store


@pytest.fixture
def store(workspace: Path) -> Store:
    """Version 1 passed and is candidate."""
    store = judged.fresh_store(workspace)
    judged.write_all()
    register(store, judged.candidate())
    return store


def add(store: Store, seed: int, verdict: str) -> int:
    judged.write_all(seed=seed, verdict=verdict)
    number = register(store, judged.candidate()).version
    assert number
    return number


def champion(store: Store, alias: str = "champion") -> int | None:
    found = registry.at_alias(store, name=judged.NAME, alias=alias)
    return found.number if found else None


def artifact(workspace: Path, store: Store, name: str) -> Path:
    version = registry.at_alias(store, name=judged.NAME, alias="candidate")
    assert version
    return workspace / "mlartifacts" / judged.NAME / version.run_id / "artifacts" / name


def model_file(workspace: Path, store: Store, name: str) -> Path:
    version = registry.at_alias(store, name=judged.NAME, alias="candidate")
    assert version
    return workspace / "mlartifacts" / judged.NAME / "models" / version.model_id / "artifacts" / name


def test_the_candidate_becomes_champion_on_record(
    store: Store, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Promotion moves the alias and appends who, when, from, to and why; the workspace's files are not read."""
    for folder in ("models", "reports", "data"):
        (workspace / folder).rename(workspace / f"{folder}-away")
    promote(judged.params(), reason="first")
    assert champion(store) == 1
    assert capsys.readouterr().out == "champion of shapes: none -> version 1 (PROMOTE)\n"

    (only,) = promotions(store, name=judged.NAME)
    assert (only.action, only.alias, only.before, only.after) == ("promote", "champion", None, 1)
    assert (only.verdict, only.forced, only.reason) == ("PROMOTE", False, "first")
    assert "@" in only.who
    (run,) = store.client.search_runs([store.experiment("shapes-promotions")])
    assert run.info.status == "FINISHED"


def test_the_champion_again_is_no_promotion(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    """A second promote of the same version leaves no second record."""
    promote(judged.params())
    promote(judged.params(), version=1)
    assert capsys.readouterr().out.endswith("version 1 of shapes is champion already.\n")
    assert len(promotions(store, name=judged.NAME)) == 1


@pytest.mark.parametrize("verdict", ["HOLD", "REJECT"])
def test_a_version_that_did_not_pass_needs_force_and_a_reason(store: Store, verdict: str) -> None:
    """HOLD and REJECT are refused; force without a reason too; with both it goes on record as forced."""
    number = add(store, 1, "HOLD")
    if verdict == "REJECT":
        judged.write_verdict("REJECT")
        register(store, judged.candidate())
    for options in ({}, {"force": True}, {"force": True, "reason": " "}, {"reason": "because"}):
        with pytest.raises(PromotionRefused, match=f"version {number} was judged {verdict}.*--force --reason"):
            promote(judged.params(), version=number, **options)
    assert champion(store) is None
    promote(judged.params(), version=number, force=True, reason="a demo")
    assert champion(store) == number
    (only,) = promotions(store, name=judged.NAME)
    assert (only.verdict, only.forced, only.reason) == (verdict, True, "a demo")


def test_what_is_not_there_is_said_so(store: Store) -> None:
    """F11: a missing version or alias is one sentence with the versions that exist; a bad alias is refused first."""
    with pytest.raises(PromotionRefused, match=r"version 7 of 'shapes' does not exist. Versions: 1."):
        promote(judged.params(), version=7)
    with pytest.raises(ConfigError, match="alias 'latest' is reserved"):
        promote(judged.params(), alias="latest")
    judged.write_verdict("HOLD")
    register(store, judged.candidate())
    with pytest.raises(
        PromotionRefused, match=r"no version with alias 'candidate'. Versions: 1. .*sluice promote VERSION"
    ):
        promote(judged.params())


def test_another_alias_has_its_own_champion(store: Store) -> None:
    """F11: the alias is resolved once to a version, and the record says which alias it was."""
    promote(judged.params(), alias="prod-eu")
    assert (champion(store), champion(store, "prod-eu")) == (None, 1)
    assert [each.alias for each in promotions(store, name=judged.NAME)] == ["prod-eu"]


@pytest.mark.parametrize(
    ("place", "name", "what"),
    [
        ("run", "models/trained/weights.safetensors", "weights: recorded"),
        ("run", f"exported/{judged.ENGINE}/model.onnx", f"files of {judged.ENGINE}: recorded"),
        ("model", "model.onnx", "model.onnx: recorded"),
        ("model", "golden.npz", "golden.npz: recorded"),
    ],
)
def test_files_that_changed_after_the_verdict_are_refused(
    store: Store, workspace: Path, place: str, name: str, what: str
) -> None:
    """What is promoted is what was judged: weights, exports, the served model and its test samples."""
    file = (artifact if place == "run" else model_file)(workspace, store, name)
    file.write_bytes(file.read_bytes() + b"!")
    for force in (False, True):
        with pytest.raises(PromotionRefused, match=f"version 1: {what} .*It is not what was judged"):
            promote(judged.params(), force=force, reason="anyway")
    assert champion(store) is None
    assert promotions(store, name=judged.NAME) == []


def test_a_verdict_that_was_changed_is_refused(store: Store, workspace: Path) -> None:
    """Neither the file of the verdict nor its tag alone can be changed unnoticed."""
    judged.write_verdict("HOLD")
    register(store, judged.candidate())
    store.client.set_model_version_tag(judged.NAME, "1", "sluice.verdict", "PROMOTE")
    with pytest.raises(PromotionRefused, match="version 1: verdict: recorded PROMOTE, found HOLD"):
        promote(judged.params(), version=1)
    store.client.log_dict(
        registry.version(store, name=judged.NAME, number=1).run_id, {"verdict": "PROMOTE"}, "reports/gate/verdict.json"
    )
    with pytest.raises(TrackingError, match="is not the file that was recorded"):
        promote(judged.params(), version=1)


def test_files_that_are_gone_are_said_so(store: Store, workspace: Path) -> None:
    """A version whose artifacts were removed is one sentence."""
    artifact(workspace, store, "reports/gate/verdict.json").unlink()
    with pytest.raises(TrackingError, match=r"mlflow.db has no reports/gate/verdict.json .*dvc repro -f -s register"):
        promote(judged.params())


def test_a_model_that_does_not_answer_as_trained_is_refused(store: Store, workspace: Path) -> None:
    """F3, F12: loaded in a clean process, the model must give the recorded answers."""
    judged.write_all(seed=3)
    judged.write_export(Path("other"), seed=4)
    (Path("other") / paths.GOLDEN_NAME).replace(paths.exported(judged.ENGINE) / paths.GOLDEN_NAME)
    judged.write_verdict("PROMOTE")
    register(store, judged.candidate())
    with pytest.raises(
        PromotionRefused, match=r"version 2 does not answer golden.npz in a clean process: output 'logits'"
    ):
        promote(judged.params())


def test_a_model_that_cannot_be_loaded_is_refused(store: Store, workspace: Path) -> None:
    """F12: a file that ONNX Runtime does not take is found before the alias moves."""
    file = model_file(workspace, store, "model.onnx")
    file.write_bytes(b"no model")
    with sqlite3.connect(workspace / "mlflow.db") as connection:
        values = (files.digest_file(file),)
        connection.execute("UPDATE model_version_tags SET value = ? WHERE key = 'sluice.onnx'", values)
    connection.close()
    with pytest.raises(PromotionRefused, match="does not answer golden.npz in a clean process"):
        promote(judged.params())
    assert champion(store) is None
