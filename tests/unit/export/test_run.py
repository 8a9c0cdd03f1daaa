import json
import shutil
from pathlib import Path

import onnx
import pytest
from contracts.small_model import SmallModel, images, predictor_of
from onnx import numpy_helper

from sluice.config import plugins
from sluice.config.plugins import EngineEntry
from sluice.export.clean_process import check_clean_process
from sluice.export.run import Exported, export_engine
from sluice.io import files

ENGINE = "onnxruntime-fp32"


def _export(engine: str, captured: Path, folder: Path, **others: object) -> Exported:
    folder.mkdir()
    settings = {"options": {}, **others}
    reference = predictor_of(SmallModel())
    return export_engine(engine, captured=captured, folder=folder, reference=reference, inputs=images(), **settings)  # type: ignore[arg-type]


def test_a_wrong_captured_model_is_refused_with_numbers(captured: Path, tmp_path: Path) -> None:
    """A bias that differs from the model's own is found on real samples, and its folder is kept to look into."""
    broken = Path(shutil.copytree(captured, tmp_path / "captured"))
    model = onnx.load(broken / "model.onnx")
    bias = next(item for item in model.graph.initializer if item.name.endswith("head.bias"))
    bias.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(bias) + 0.5, bias.name))
    onnx.save(model, broken / "model.onnx")
    found = _export(ENGINE, broken, tmp_path / "out").as_json()
    assert found["status"] == "refused"
    assert "SQNR is" in found["reason"]
    assert found["sqnr_db"] < 100
    assert found["clean_process"]["status"] == "refused"
    assert (tmp_path / "out/model.onnx").exists()


def test_a_truncated_captured_model_fails_and_leaves_nothing(captured: Path, tmp_path: Path) -> None:
    """Half an ONNX file is refused before an engine sees it, and half a folder is not left behind."""
    broken = Path(shutil.copytree(captured, tmp_path / "captured"))
    whole = (broken / "model.onnx").read_bytes()
    (broken / "model.onnx").write_bytes(whole[: len(whole) // 2])
    found = _export(ENGINE, broken, tmp_path / "out")
    assert found.status == "failed"
    assert found.reason
    assert not list((tmp_path / "out").iterdir())


def test_unknown_options_fail_with_their_key(captured: Path, tmp_path: Path) -> None:
    """An option that no exporter reads is not ignored."""
    found = _export(ENGINE, captured, tmp_path / "out", options={"per_channel": True})
    assert found.status == "failed"
    assert found.reason == "export.options.onnxruntime: 'per_channel' is not known. This exporter takes no options."


def test_an_engine_that_hangs_is_stopped(captured: Path, tmp_path: Path) -> None:
    """The time limit is a state, not an exception."""
    found = _export(ENGINE, captured, tmp_path / "out", timeout_s=0.01)
    assert (found.status, found.clean_process.status) == ("timeout", "skipped")


def test_a_missing_library_is_unavailable(captured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that this machine lacks is no failure (G4)."""
    entry = EngineEntry("none", "none", "no_such_library", "pip install no-such-library", ("fp32",))
    monkeypatch.setitem(plugins.ENGINES, "onnxruntime", entry)
    found = _export(ENGINE, captured, tmp_path / "out").as_json()
    assert found["status"] == "unavailable"
    assert found["reason"] == (
        "the library 'no_such_library' is not installed. Install it with: pip install no-such-library"
    )
    assert found["limits"] is None


def test_a_damaged_folder_fails_its_clean_process(captured: Path, tmp_path: Path) -> None:
    """A folder that lost its model does not stand on its own."""
    _export(ENGINE, captured, tmp_path / "out")
    (tmp_path / "out/model.onnx").unlink()
    found = check_clean_process(ENGINE, tmp_path / "out")
    assert found.status == "failed"
    assert "ONNX Runtime cannot load" in found.reason


def test_json_has_every_key_of_the_contract(captured: Path, tmp_path: Path) -> None:
    """The gate reads these names."""
    found = _export(ENGINE, captured, tmp_path / "out").as_json()
    assert set(found) == {
        *("engine", "status", "reason", "max_abs_error", "relative_max", "sqnr_db", "kl_max", "top1_agreement"),
        *("batches", "samples", "executed_precision", "clean_process", "limits"),
    }
    assert (found["status"], found["batches"], found["samples"]) == ("ok", [1, 2, 7, 64], 64)
    assert json.loads(json.dumps(found)) == found
    assert files.read_json(tmp_path / "out/signature.json")["engine"] == ENGINE
