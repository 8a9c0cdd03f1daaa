"""Exported folders as they describe themselves."""

from pathlib import Path

import numpy as np
import pytest

from sluice.errors import EngineError, Incomparable, MissingArtifact
from sluice.evaluation.folders import Face, check_comparable, read_face, read_logits
from sluice.io import files, paths


def _write(folder: Path, signature: object) -> Path:
    files.write_json(folder / paths.SIGNATURE_NAME, signature)
    return folder


def test_a_face_is_read_from_the_signature(tmp_path: Path) -> None:
    """Classes and inputs come from the folder alone."""
    inputs = [{"name": "images", "dtype": "uint8", "shape": ["N", 8, 8, 1], "meaning": "ignored here"}]
    face = read_face(_write(tmp_path, {"classes": ["a", "b"], "inputs": inputs}))
    assert face == Face(("a", "b"), (("images", "uint8", ("N", 8, 8, 1)),))


@pytest.mark.parametrize("signature", [{}, {"classes": ["a"], "inputs": [1]}, [], {"classes": None, "inputs": []}])
def test_a_signature_that_says_too_little_is_an_error(tmp_path: Path, signature: object) -> None:
    """A signature of another form is named with its file."""
    with pytest.raises(EngineError, match="does not say its classes and inputs"):
        read_face(_write(tmp_path, signature))


def test_a_missing_signature_is_a_missing_artifact(tmp_path: Path) -> None:
    """No file is another error than a wrong one."""
    with pytest.raises(MissingArtifact, match="does not exist"):
        read_face(tmp_path)


def _folder(folder: Path, *, size: int = 8, dimension: str = "N") -> Path:
    inputs = [{"name": "images", "dtype": "uint8", "shape": [dimension, size, size, 1]}]
    return _write(folder, {"classes": ["a"], "inputs": inputs})


def test_folders_of_one_form_are_comparable(tmp_path: Path) -> None:
    """Sizes must be equal; the names of symbolic dimensions need not be, and the parity report does not count."""
    mine, theirs = _folder(tmp_path / "mine"), _folder(tmp_path / "theirs", dimension="batch")
    digest = files.digest_folder(theirs)
    files.write_json(theirs / paths.PARITY_NAME, {"status": "ok"})
    check_comparable(mine, theirs, digest=digest)


def test_inputs_of_another_form_cannot_be_compared(tmp_path: Path) -> None:
    """A champion for other images is refused, with both forms."""
    mine, theirs = _folder(tmp_path / "mine"), _folder(tmp_path / "theirs", size=16)
    with pytest.raises(Incomparable, match=r"takes images uint8 \[N, 16, 16, 1\], the candidate images uint8 \[N, 8"):
        check_comparable(mine, theirs, digest=files.digest_folder(theirs))


def test_files_that_are_not_those_on_record_are_refused(tmp_path: Path) -> None:
    """A changed artifact of the champion is named with the digest on record."""
    with pytest.raises(EngineError, match="theirs in the store has SHA-256 .*, on record is 00: someone changed"):
        check_comparable(_folder(tmp_path / "mine"), _folder(tmp_path / "theirs"), digest="00")


def test_logits_are_read_by_engine(tmp_path: Path) -> None:
    """An engine's answers, or an error that says where the reason stands."""
    file = tmp_path / "outputs.npz"
    np.savez(file, **{"x.logits": np.ones((2, 3), dtype=np.float32)})
    assert read_logits(file, engine="x").shape == (2, 3)
    with pytest.raises(EngineError, match="has no answers of y"):
        read_logits(file, engine="y")
    with pytest.raises(MissingArtifact, match="dvc repro evaluate"):
        read_logits(tmp_path / "none.npz", engine="x")
