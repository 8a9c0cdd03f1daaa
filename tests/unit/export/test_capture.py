import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from contracts.small_model import SIGNATURE, SmallModel, images, predictor_of, write_captured
from torch import Tensor, nn

from sluice.errors import EngineError
from sluice.export.capture import capture
from sluice.export.golden import read_golden
from sluice.export.onnx_file import check_onnx, save_onnx
from sluice.io import files


def test_files_are_equal_bytes_in_another_folder(captured: Path, tmp_path: Path) -> None:
    """Two clones make the same files: no path, no time, no random name; the model itself is left as it was."""
    model = SmallModel().train()
    again = write_captured(tmp_path / "deeper" / "elsewhere", model=model)
    assert model.drop.training
    assert {file.name: files.digest_file(file) for file in captured.iterdir()} == {
        file.name: files.digest_file(file) for file in again.iterdir()
    }


@pytest.mark.parametrize("name", ["graph.pt2", "model.onnx", "golden.npz", "signature.json"])
def test_files_name_no_path(captured: Path, name: str) -> None:
    """A file says nothing about the machine that made it."""
    content = (captured / name).read_bytes()
    assert b".py" not in content
    assert str(Path.cwd()).encode() not in content


def test_onnx_has_the_signature_symbolic_batch_opset_and_ir(captured: Path) -> None:
    """A consumer finds all it must know in the file itself (G1)."""
    model = onnx.load(captured / "model.onnx")
    assert {item.key: json.loads(item.value) for item in model.metadata_props} == {"sluice.signature": SIGNATURE}
    assert (model.ir_version, model.opset_import[0].version) == (10, 18)
    dims = [value.type.tensor_type.shape.dim[0].dim_param for value in (*model.graph.input, *model.graph.output)]
    assert dims == ["N", "N", "N"]
    assert [value.name for value in model.graph.output] == ["logits", "probabilities"]


def test_global_pool_is_a_mean(captured: Path) -> None:
    """No gather over all elements stands for what is an average; batch norm is folded."""
    kinds = [node.op_type for node in onnx.load(captured / "model.onnx").graph.node]
    assert "ReduceMean" in kinds
    assert not {"Gather", "Range", "BatchNormalization", "Dropout"} & set(kinds)


@pytest.mark.parametrize("n", [1, 2, 7, 64])
def test_graph_answers_any_batch_as_the_model_in_eval_mode(captured: Path, n: int) -> None:
    """The captured graph has dropout off though the model was in train mode, and takes any batch (F3, G1, G6)."""
    graph = torch.export.load(captured / "graph.pt2").module()
    inputs = images(n)
    ours = predictor_of(SmallModel())(inputs)
    logits, probabilities = graph(torch.from_numpy(inputs["images"]))
    np.testing.assert_allclose(logits.detach(), ours["logits"], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(probabilities.detach(), ours["probabilities"], rtol=1e-5, atol=1e-6)


class _Branches(nn.Module):
    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        x = images.float().mean((1, 2))
        if x.sum() > 0:
            return x, x
        return -x, x


class _LeavesTorch(nn.Module):
    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        x = torch.from_numpy(images.float().numpy() * 2)
        return x, x


class _FixesTheBatch(nn.Module):
    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        x = images.float().reshape(2, -1)[:, :3]
        return x, x


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (_Branches, r"at export/test_capture\.py:\d+ \(if x\.sum\(\) > 0:\): Could not guard on data-dependent"),
        (_LeavesTorch, r"at export/test_capture\.py:\d+ .*numpy\(\) is not supported"),
        (_FixesTheBatch, r"You marked N as dynamic but your code specialized it to be a constant \(2\)"),
    ],
)
def test_what_cannot_be_captured_is_said_with_its_place(module: type[nn.Module], said: str, tmp_path: Path) -> None:
    """The message has torch's own words, the line of the model, and what to write instead (G1)."""
    with pytest.raises(EngineError, match=said) as caught:
        capture(module(), signature=SIGNATURE, folder=tmp_path)
    assert f"The forward of {module.__name__} may not" in str(caught.value)
    assert not list(tmp_path.iterdir())


class _HasNoOnnxForm(nn.Module):
    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        x = torch.special.bessel_j0(images.float().mean((1, 2)))
        return x, x


def test_an_operator_without_onnx_form_is_said(tmp_path: Path) -> None:
    """Captured, but not to be written as ONNX: the message says at which opset, and what to do."""
    with pytest.raises(EngineError, match=r"no ONNX form at opset 18: .*bessel_j0.* Replace that operator"):
        capture(_HasNoOnnxForm(), signature=SIGNATURE, folder=tmp_path)


def test_missing_onnxscript_comes_with_its_command(repository: Path, tmp_path: Path) -> None:
    """torch does not bring what its ONNX exporter needs (G4)."""
    code = (
        "import sys; sys.modules['onnxscript'] = None; from pathlib import Path; "
        "from contracts.small_model import write_captured; write_captured(Path('captured'))"
    )
    environment = {**os.environ, "PYTHONPATH": str(repository / "tests")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith("needs the library 'onnxscript'. Install it with: pip install onnxscript")


def _freeze(model: onnx.ModelProto) -> None:
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 2


def _rename(model: onnx.ModelProto) -> None:
    model.graph.input[0].name = "pixels"
    for node in model.graph.node:
        node.input[:] = ["pixels" if name == "images" else name for name in node.input]


def _newer(model: onnx.ModelProto) -> None:
    model.ir_version = 11


@pytest.mark.parametrize(
    ("change", "said"),
    [(_freeze, "the signature says"), (_rename, "'pixels'"), (_newer, "IR 11, the signature says 18 and 10")],
)
def test_a_file_that_breaks_the_signature_is_refused(
    captured: Path, tmp_path: Path, change: Callable[[onnx.ModelProto], None], said: str
) -> None:
    """A frozen batch, another name, a newer IR: found before any engine sees the file (G1)."""
    model = onnx.load(captured / "model.onnx")
    change(model)
    with pytest.raises(EngineError, match=said):
        save_onnx(model, tmp_path / "model.onnx", signature=SIGNATURE)


def test_missing_external_weights_are_refused(captured: Path, tmp_path: Path) -> None:
    """A file whose weights lay beside it and were not moved along is no model."""
    model = onnx.load(captured / "model.onnx")
    onnx.save(model, tmp_path / "model.onnx", save_as_external_data=True, location="model.onnx.data", size_threshold=0)
    check_onnx(tmp_path / "model.onnx", signature=SIGNATURE)
    (tmp_path / "model.onnx.data").unlink()
    with pytest.raises(EngineError, match="not valid ONNX"):
        check_onnx(tmp_path / "model.onnx", signature=SIGNATURE)


def test_golden_holds_the_models_own_answers(captured: Path) -> None:
    """The same arrays come back, with the batch norm's statistics of evaluation."""
    golden = read_golden(captured / "golden.npz")
    np.testing.assert_array_equal(golden.inputs["images"], images(8)["images"])
    np.testing.assert_array_equal(golden.outputs["logits"], predictor_of(SmallModel())(golden.inputs)["logits"])
