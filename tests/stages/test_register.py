from pathlib import Path

from unit.tracking import judged

from sluice.io import files, paths
from sluice.stages import register
from sluice.tracking import registry


def test_register_writes_what_the_store_now_holds(workspace: Path) -> None:
    """registered.json names the version, the model and the store, and is the same when run again."""
    store = judged.fresh_store(workspace)
    judged.write_all()
    register.run(judged.params())
    written = paths.REGISTERED.read_bytes()
    register.run(judged.params())
    version = registry.at_alias(store, name=judged.NAME, alias="candidate")
    assert version
    assert paths.REGISTERED.read_bytes() == written
    assert files.read_json(paths.REGISTERED) == {
        "name": "shapes",
        "version": 1,
        "digest": files.digest_file(paths.WEIGHTS),
        "verdict": "PROMOTE",
        "run_id": version.run_id,
        "store": store.identity,
    }


def test_a_rejected_model_is_no_error(workspace: Path) -> None:
    """The verdict is data: REJECT leaves a run and no version, and the stage succeeds."""
    judged.fresh_store(workspace)
    judged.write_all(verdict="REJECT")
    register.run(judged.params())
    assert files.read_json(paths.REGISTERED)["version"] is None
    assert files.read_json(paths.REGISTERED)["verdict"] == "REJECT"
