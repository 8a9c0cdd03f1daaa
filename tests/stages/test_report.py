from pathlib import Path

import pytest
from stages.tiny_store import tiny_params, write_store
from unit.report.reports import write_all

from sluice.io import files, paths
from sluice.stages import report


@pytest.fixture
def reports(workspace: Path) -> Path:
    """All reports, and a gate split that holds one of the worst samples."""
    write_store()
    write_all()
    metrics = files.read_json(paths.METRICS)
    metrics["worst_samples"][0]["sample"] = "gate/7.png"
    files.write_json(paths.METRICS, metrics)
    return workspace


def test_writes_one_page_with_pictures(reports: Path, repository: Path) -> None:
    """The page has the model's name and the worst samples that the gate split has."""
    report.run(tiny_params(repository))

    page = paths.REPORT.read_text(encoding="utf-8")
    assert "<h1>fashion-mnist</h1>" in page
    assert page.count("data:image/png;base64,") == 1
    assert "gate/7.png" in page


def test_private_images_stay_out(reports: Path, repository: Path) -> None:
    """report.images: false lists the worst samples by name only."""
    report.run(tiny_params(repository, report={"images": False}))

    page = paths.REPORT.read_text(encoding="utf-8")
    assert "data:image" not in page
    assert "gate/7.png" in page


def test_an_empty_workspace_still_gets_a_page(workspace: Path, repository: Path) -> None:
    """What has not been made is said, never a crash."""
    report.run(tiny_params(repository))

    page = paths.REPORT.read_text(encoding="utf-8")
    assert "No verdict" in page
    assert "reports/gate/verdict.json does not exist" in page
