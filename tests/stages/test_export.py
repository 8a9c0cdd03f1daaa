from pathlib import Path

import pytest
from contracts.trained_workspace import params, write_workspace

from sluice.config import plugins
from sluice.config.plugins import EngineEntry
from sluice.io import files, paths
from sluice.stages import capture, export

ENGINE = "onnxruntime-fp32"


@pytest.fixture
def captured(repository: Path, workspace: Path) -> Path:
    write_workspace(workspace)
    capture.run(params(repository))
    return workspace


def test_export_leaves_a_judged_folder(
    repository: Path, captured: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Model, signature, golden answers and parity, with evidence that agrees with the disk; a lack is a result too."""
    export.run(params(repository), ENGINE)
    folder = paths.exported(ENGINE)
    parity = files.read_json(folder / "parity.json")
    assert (parity["status"], parity["clean_process"]["status"], parity["samples"]) == ("ok", "ok", 64)
    assert parity["evidence"]["weights"] == files.digest_file(paths.WEIGHTS)
    assert (parity["evidence"]["split"], parity["evidence"]["split_digest"]) == ("val", "d" * 64)
    assert parity["evidence"]["exported"] == {ENGINE: files.digest_folder(folder, without=("parity.json",))}
    assert capsys.readouterr().out == "onnxruntime-fp32: ok\n"
    entry = EngineEntry("none", "none", "no_such_library", "pip install no-such-library", ("fp32",))
    monkeypatch.setitem(plugins.ENGINES, "onnxruntime", entry)
    export.run(params(repository), ENGINE)
    assert files.read_json(folder / "parity.json")["status"] == "unavailable"
    assert [file.name for file in folder.iterdir()] == ["parity.json"]
    assert "Install it with: pip install no-such-library" in capsys.readouterr().out
