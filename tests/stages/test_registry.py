import subprocess
import sys
from pathlib import Path

from unit.tracking import judged

from sluice.commands.promote import promote
from sluice.io import files, paths
from sluice.stages import registry
from sluice.tracking.register import register


def test_a_new_store_has_no_champion(workspace: Path) -> None:
    """The first run makes the store and says which it is."""
    registry.run(judged.params())
    assert files.read_json(paths.REGISTRY) == {
        "store": judged.open_store(judged.TrackingConfig()).identity,
        "champion": None,
    }


def test_the_champion_and_only_stable_facts_are_written(workspace: Path) -> None:
    """DVC sees a new champion as a change, and two runs in between as none."""
    store = judged.fresh_store(workspace)
    judged.write_all()
    registered = register(store, judged.candidate())
    registry.run(judged.params())
    assert files.read_json(paths.REGISTRY)["champion"] is None
    promote(judged.params())
    registry.run(judged.params())
    before = paths.REGISTRY.read_bytes()
    registry.run(judged.params())

    assert paths.REGISTRY.read_bytes() == before
    assert files.read_json(paths.REGISTRY) == {
        "store": store.identity,
        "champion": {
            "version": 1,
            "run_id": registered.run_id,
            "weights": files.digest_file(paths.WEIGHTS),
            "verdict": files.read_json(paths.VERDICT),
            "exported": files.read_json(paths.VERDICT)["candidate"]["exported"],
            "profile": files.digest_file(paths.PROFILE_OF_DATA),
        },
    }


def test_the_stage_loads_no_model_library(workspace: Path) -> None:
    """It runs in every `dvc repro`: neither torch nor ONNX nor MLflow's flavours are imported."""
    judged.fresh_store(workspace)
    program = (
        "import sys; from pathlib import Path; from sluice.config import load; from sluice.stages import registry; "
        "registry.run(load(Path(sys.argv[1]))); "
        "print({'torch', 'onnx', 'onnxruntime', 'mlflow.onnx'} & set(sys.modules))"
    )
    command = [sys.executable, "-W", "ignore", "-c", program, str(judged.PRESET)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
