"""One suite for every engine of the table: whoever adds one gets these promises checked."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contracts.small_model import SmallModel, images, predictor_of, write_captured

from sluice.config.plugins import engine_names, split_engine_name
from sluice.engines import Missing, Predictor, load, probe
from sluice.errors import EngineError
from sluice.export.golden import read_golden
from sluice.export.parity import judge
from sluice.export.run import export_engine
from sluice.io import files

CARRIED = {"signature.json", "golden.npz"}


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_captured(tmp_path_factory.mktemp("captured") / "captured")


@pytest.fixture(scope="module", params=engine_names())
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    found = probe(split_engine_name(name)[0])
    if isinstance(found, Missing):
        pytest.skip(f"{found.reason}. {found.remedy}")
    return name


@pytest.fixture(scope="module")
def exported(engine: str, captured: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("exported") / engine
    return folder, _export(engine, captured, folder)


@pytest.fixture
def predictor(engine: str, exported: tuple[Path, dict[str, Any]]) -> Iterator[Predictor]:
    loaded = load(engine, exported[0], threads=1)
    yield loaded
    loaded.close()


def _export(engine: str, captured: Path, folder: Path) -> dict[str, Any]:
    folder.mkdir()
    reference = predictor_of(SmallModel())
    found = export_engine(engine, captured=captured, folder=folder, reference=reference, inputs=images(), options={})
    return found.as_json()


def test_export_passes_parity_and_stands_on_its_own(engine: str, exported: tuple[Path, dict[str, Any]]) -> None:
    """Real samples, edges, four batch sizes, and a process that cannot import torch (G1, G6, G11)."""
    folder, parity = exported
    assert (parity["status"], parity["reason"]) == ("ok", "")
    assert parity["executed_precision"] == split_engine_name(engine)[1]
    assert parity["clean_process"] == {"status": "ok", "reason": ""}
    assert {file.name for file in folder.iterdir()} > CARRIED


def test_files_are_equal_bytes_in_another_folder(
    engine: str, captured: Path, exported: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    """Two clones make the same folder."""
    _export(engine, captured, tmp_path / "again")
    assert files.digest_folder(tmp_path / "again") == files.digest_folder(exported[0])


def test_files_name_no_path(exported: tuple[Path, dict[str, Any]]) -> None:
    """A folder says nothing about the machine that made it."""
    for file in exported[0].iterdir():
        assert str(exported[0].parent).encode() not in file.read_bytes()
        assert b".py" not in file.read_bytes()


def test_the_signature_is_inside_the_model_too(engine: str, exported: tuple[Path, dict[str, Any]]) -> None:
    """One file of the folder, lost among others, still says what it is (G10)."""
    models = [file for file in exported[0].iterdir() if file.name not in CARRIED]
    assert any(engine.encode() in file.read_bytes() and b"schema_version" in file.read_bytes() for file in models)


@pytest.mark.parametrize("n", [1, 2, 7, 64])
def test_any_batch_is_answered_as_the_model_answers(predictor: Predictor, n: int) -> None:
    """One file for every batch size (G1)."""
    inputs = images(n, seed=n)
    ours, theirs = predictor_of(SmallModel())(inputs), predictor(inputs)
    assert {name: (array.shape, array.dtype) for name, array in theirs.items()} == {
        name: ((n, 3), np.dtype(np.float32)) for name in ("logits", "probabilities")
    }
    if n > 1:
        assert not judge([ours], [theirs], requested="fp32", executed="fp32").reasons
    np.testing.assert_allclose(theirs["logits"], ours["logits"], rtol=1e-4, atol=1e-5)


def test_a_later_call_leaves_earlier_answers_alone(predictor: Predictor) -> None:
    """Outputs belong to the caller."""
    first = predictor(images(4, seed=1))
    kept = {name: array.copy() for name, array in first.items()}
    predictor(images(4, seed=2))
    for name, array in first.items():
        np.testing.assert_array_equal(array, kept[name])


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_do_not_change_the_answer(engine: str, exported: tuple[Path, dict[str, Any]], threads: int) -> None:
    """Any number of threads is within the limits of parity."""
    golden = read_golden(exported[0] / "golden.npz")
    loaded = load(engine, exported[0], threads=threads)
    answers = loaded(golden.inputs)
    loaded.close()
    assert not judge([golden.outputs], [answers], requested="fp32", executed=loaded.executed_precision).reasons


def test_views_and_read_only_arrays_are_taken(predictor: Predictor) -> None:
    """Arrays of memory-mapped files, every second row of them, are the usual input."""
    array = images(8)["images"]
    array.flags.writeable = False
    np.testing.assert_array_equal(
        predictor({"images": array[::2]})["logits"], predictor({"images": array[::2].copy()})["logits"]
    )


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"pixels": images(2)["images"]}, "named 'pixels', the model takes 'images'"),
        ({"images": images(2)["images"].astype(np.float32)}, "float32"),
        ({"images": images(2)["images"][:, :5]}, r"\[2, 5, 10, 3\]"),
    ],
)
def test_wrong_input_is_one_clear_error(predictor: Predictor, inputs: dict[str, Any], said: str) -> None:
    """The same words from every engine."""
    with pytest.raises(EngineError, match=said):
        predictor(inputs)


def test_broken_files_are_refused(engine: str, exported: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    """Each model file in turn is cut to half, emptied and removed: an EngineError every time, never a wrong answer."""
    for file in exported[0].iterdir():
        if file.name in CARRIED:
            continue
        whole = file.read_bytes()
        for content in (whole[: len(whole) // 2], b"", None):
            broken = Path(shutil.copytree(exported[0], tmp_path / "broken", dirs_exist_ok=True)) / file.name
            broken.write_bytes(content) if content is not None else broken.unlink()
            with pytest.raises(
                EngineError, match=r"cannot load .*model\.\w+: .+ Make it again with: dvc repro -f -s export@"
            ):
                load(engine, broken.parent, threads=1)


def test_a_closed_predictor_says_so(engine: str, exported: tuple[Path, dict[str, Any]]) -> None:
    """Closing is final, and may be done twice."""
    loaded = load(engine, exported[0], threads=1)
    loaded.close()
    loaded.close()
    with pytest.raises(EngineError, match="the predictor is closed"):
        loaded(images(1))
