import json
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from unit.tracking import judged

from sluice.tracking import registry
from sluice.tracking.register import register
from sluice.tracking.store import Store

CONSUMER = """
import importlib.abc, json, sys
class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "torchvision", "sluice"}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocked())
import mlflow, numpy
mlflow.set_tracking_uri(sys.argv[1])
model = mlflow.pyfunc.load_model("models:/shapes@candidate")
golden = numpy.load(sys.argv[2])
largest = {}
for size in (1, 2, 5, 8):
    images = golden["input.images"][:size]
    for _ in range(2):
        given = model.predict({"images": images})
        largest[size] = float(abs(given["logits"] - golden["output.logits"][:size]).max())
images = model.metadata.signature.inputs.inputs[0]
assert (images.name, str(images.type), images.shape) == ("images", "uint8", (-1, 4, 4, 1)), images
print(json.dumps(largest))
"""


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
    """F2, F3, F12: in a clean process, from another folder, it answers batches of 1, 2, 5 and 8 as trained, twice."""
    store, folder = model
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    command = [sys.executable, "-W", "ignore", "-I", "-c", CONSUMER, store.uri, str(folder / "golden.npz")]
    done = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    largest = json.loads(done.stdout.splitlines()[-1])
    assert set(largest) == {"1", "2", "5", "8"}
    assert max(largest.values()) < 1e-4


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
