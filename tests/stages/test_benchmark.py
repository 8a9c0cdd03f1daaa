from pathlib import Path

import pytest
from contracts.trained_workspace import params, write_workspace

from sluice.io import files, paths
from sluice.stages import benchmark, capture, export

ENGINES = ("onnxruntime-fp32", "openvino-fp32")


@pytest.fixture
def exported(repository: Path, workspace: Path) -> Path:
    write_workspace(workspace)
    capture.run(params(repository))
    for engine in ENGINES:
        export.run(params(repository), engine)
    return workspace


def test_every_engine_has_a_cell_in_every_scenario(repository: Path, exported: Path) -> None:
    """Engines of the params are timed against eager; one that was refused or is broken has its state and no time."""
    config = params(repository, benchmark={"rounds": 5, "offline_batch": 80})
    benchmark.run(config)
    report = files.read_json(paths.BENCHMARK)
    cells = {(cell["engine"], cell["scenario"]): cell for cell in report["cells"]}
    assert set(cells) == {(name, kind) for name in ("eager", *ENGINES) for kind in ("single_stream", "offline")}
    assert {cell["status"] for cell in cells.values()} == {"ok"}
    assert all(cell["low_ms"] <= cell["median_ms"] <= cell["high_ms"] for cell in cells.values())
    assert cells["openvino-fp32", "offline"]["batch"] == 80
    assert cells["eager", "offline"]["ratio_to_eager"] == {"value": 1.0, "low": 1.0, "high": 1.0}
    assert set(report["evidence"]["exported"]) == set(ENGINES)
    assert report["noise"]["steal_share"] is None or 0 <= report["noise"]["steal_share"] <= 1

    parity = paths.exported(ENGINES[0]) / "parity.json"
    files.write_json(parity, {**files.read_json(parity), "status": "refused", "reason": "SQNR is 30.0 dB"})
    (paths.exported(ENGINES[1]) / "model.bin").unlink()
    benchmark.run(config)
    first, second = (
        next(cell for cell in files.read_json(paths.BENCHMARK)["cells"] if cell["engine"] == name) for name in ENGINES
    )
    assert (first["status"], first["reason"], first["median_ms"]) == ("refused", "SQNR is 30.0 dB", None)
    assert (second["status"], second["median_ms"]) == ("failed", None)
    assert "OpenVINO cannot load" in second["reason"]
