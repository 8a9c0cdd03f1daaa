from pathlib import Path

import pytest
from unit.report import reports

from sluice.io import files, paths
from sluice.report import rows
from sluice.report.evidence import collect


def first_step() -> tuple[str, str]:
    return rows.next_steps(collect())[0]


def test_engines_are_those_that_were_evaluated(workspace: Path) -> None:
    """Eager first, then the engines of metrics.json; a folder left from before is no engine."""
    reports.write_all()
    files.write_json(paths.exported("ncnn-fp32") / paths.PARITY_NAME, {"status": "ok"})

    found = rows.engine_rows(collect())

    assert [row.name for row in found] == ["eager", "onnxruntime-fp32", "openvino-fp32"]
    assert found[1].single["median_ms"] == pytest.approx(0.18)
    assert found[2].parity["status"] == "refused"


def test_every_parameter_has_its_source(workspace: Path) -> None:
    """Dotted keys, the effective value, and the file it came from."""
    reports.write_all()

    found = {row.key: (row.value, row.source) for row in rows.value_rows(collect())}

    assert found["train.optimizer.lr"] == ("0.31", "tune")
    assert found["model.options.widths"] == ("16, 32", "params.yaml")


@pytest.mark.parametrize(
    ("best", "tuned", "said"),
    [
        (None, False, "Tuning has not run"),
        ("values: {}\n", False, r"tune.trials: 0"),
        ("values: {train.optimizer.lr: 0.31}\n", False, "did not use it (train.use_tuned: false)"),
        ("values: {train.optimizer.lr: 0.31}\n", True, "Tuned, and used for training: train.optimizer.lr = 0.31."),
    ],
)
def test_the_story_of_tuning(workspace: Path, best: str | None, tuned: bool, said: str) -> None:
    """Searched or not, used or not: one sentence."""
    reports.write_all(tuned=tuned)
    paths.BEST_PARAMS.unlink()
    if best:
        files.write_text(paths.BEST_PARAMS, best)

    assert said in rows.tuning_story(collect())


@pytest.mark.parametrize(
    ("verdict", "command"),
    [
        ("PROMOTE", "sluice promote 4"),
        ("HOLD", "sluice promote 4 --force --reason '...'"),
        ("REJECT", "sluice gate --check"),
    ],
)
def test_the_next_step_fits_the_verdict(workspace: Path, verdict: str, command: str) -> None:
    """Each verdict has one thing to do next."""
    reports.write_all(verdict=verdict)

    assert first_step()[0] == command


def test_a_champion_needs_no_promotion(workspace: Path) -> None:
    """A version that is the champion is not offered for promotion."""
    reports.write_all()
    files.write_json(paths.REGISTRY, {"store": "s", "champion": {"version": 4}})

    assert first_step()[0] == "make ui"
    assert rows.registration(collect()).endswith("alias candidate, champion")


def test_stale_reports_come_before_promotion(workspace: Path) -> None:
    """Nobody is told to promote on the evidence of other weights."""
    reports.write_all()
    files.write_text(paths.WEIGHTS, "others")

    command, why = first_step()
    assert command == "dvc repro"
    assert "metrics" in why


def test_links_are_relative_to_the_page(workspace: Path) -> None:
    """Only files that exist, by a path that works from where the page lies."""
    reports.write_all()

    found = rows.links()

    assert all((paths.REPORT.parent / link.href).exists() for link in found)
    assert "../models/trained/resolved.yaml" in {link.href for link in found}
    assert "trials (CSV)" not in {link.text for link in found}
