from pathlib import Path

import numpy as np
import pytest
from contracts.trained_workspace import SCHEMA, params, write_workspace

from sluice.errors import MissingArtifact
from sluice.export.golden import read_golden
from sluice.io import files, paths
from sluice.stages import capture


def test_capture_writes_its_four_files_the_same_twice(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two workspaces agree byte for byte; where images are private, the golden samples are nobody's."""
    digests = []
    for name in ("first", "second"):
        write_workspace(tmp_path / name)
        monkeypatch.chdir(tmp_path / name)
        capture.run(params(repository))
        digests.append(files.digest_folder(paths.CAPTURED))
    assert digests[0] == digests[1]
    assert {file.name for file in paths.CAPTURED.iterdir()} == {
        *("graph.pt2", "model.onnx", "signature.json", "golden.npz")
    }
    signature = files.read_json(paths.CAPTURED / "signature.json")
    assert signature["weights"] == files.digest_file(paths.WEIGHTS)
    assert signature["classes"] == list(SCHEMA.classes)
    open_golden = read_golden(paths.CAPTURED / "golden.npz")
    capture.run(params(repository, report={"images": False}))
    private = read_golden(paths.CAPTURED / "golden.npz")
    assert private.inputs["images"].shape == open_golden.inputs["images"].shape == (8, 12, 10, 3)
    val = np.load(paths.split_folder("val") / "images.npy")
    assert any((image == val).all(axis=(1, 2, 3)).any() for image in open_golden.inputs["images"])
    assert not any((image == val).all(axis=(1, 2, 3)).any() for image in private.inputs["images"])


def test_capture_without_a_model_names_what_is_missing(repository: Path, workspace: Path) -> None:
    """The stage before is named, and nothing is written."""
    with pytest.raises(MissingArtifact, match=r"models/trained/model\.json does not exist"):
        capture.run(params(repository))
    assert not paths.CAPTURED.exists()
