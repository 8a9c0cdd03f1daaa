import json
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from mlflow.models import Model
from unit.tracking import judged

from sluice.tracking import registry
from sluice.tracking.register import register
from sluice.tracking.store import Store

CONSUMER = Path(__file__).with_name("consumer.py")


@pytest.fixture
def model(workspace: Path) -> tuple[Store, Path]:
    """The store, and the folder of the model registered in it."""
    store = judged.fresh_store(workspace)
    judged.write_all()
    register(store, judged.candidate())
    version = registry.version(store, name=judged.NAME, number=1)
    assert version
    return store, workspace / "mlartifacts" / judged.NAME / "models" / version.model_id / "artifacts"


def test_a_consumer_needs_neither_torch_nor_sluice(
    model: tuple[Store, Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """F2, F3, F12: in a clean process, from another folder, it answers any batch within the limits of fp32."""
    store, folder = model
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    command = [sys.executable, "-W", "ignore", "-I", str(CONSUMER), store.uri, "models:/shapes@candidate"]
    done = subprocess.run(
        [*command, str(folder / "golden.npz")], cwd=elsewhere, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(json.loads(done.stdout.splitlines()[-1])) == {"1", "2", "7", "8"}
    signature = Model.load(str(folder)).signature
    assert signature
    images = signature.inputs.inputs[0]
    assert (images.name, str(images.type), images.shape) == ("images", "uint8", (-1, 4, 4, 1))


def test_the_model_is_whole_in_one_file_without_pickle(model: tuple[Store, Path]) -> None:
    """F12, F15: the weights are in model.onnx, nothing in the folder runs code, and it can check itself."""
    _, folder = model
    names = {file.name for file in folder.rglob("*") if file.is_file()}
    assert {"MLmodel", "model.onnx", "golden.npz", "signature.json"} <= names
    assert not [name for name in names if name.endswith((".pkl", ".pth", ".pt", ".data"))]
    assert sum(len(each.raw_data) for each in onnx.load(folder / "model.onnx").graph.initializer) >= 16 * 3 * 4


def test_the_example_has_more_than_one_sample(model: tuple[Store, Path]) -> None:
    """F2: an example of one sample would suggest, or pin, a batch of one."""
    _, folder = model
    example = json.loads((folder / "serving_input_example.json").read_text())
    assert len(example["inputs"]["images"]) == 2
    assert "CPUExecutionProvider" in (folder / "MLmodel").read_text()
    assert "CUDAExecutionProvider" not in (folder / "MLmodel").read_text()
