import re

import numpy as np

from sluice.report import figures
from sluice.report.thumbnails import data_uri

ROWS = [{"epoch": float(n), "train_loss": 1 / n, "val_loss": 1.1 / n, "val_accuracy": 1 - 0.5 / n} for n in (1, 2, 3)]


def test_curves_are_text_that_can_be_read_and_selected() -> None:
    """An inline SVG without a header, with words as text and ids of its own."""
    svg = figures.curves(ROWS, best_epoch=3)

    assert svg.startswith("<svg")
    assert "Accuracy on val" in svg
    assert all(found.startswith("curves-") for found in re.findall(r'\bid="([^"]*)"', svg))


def test_equal_values_give_equal_drawings() -> None:
    """No date and no random id."""
    assert figures.curves(ROWS, best_epoch=None) == figures.curves(ROWS, best_epoch=None)


def test_one_epoch_can_be_drawn() -> None:
    """The shortest training has a curve too."""
    assert "<svg" in figures.curves(ROWS[:1], best_epoch=1)


def test_reliability_of_a_model_that_is_always_sure() -> None:
    """Probabilities of 1 fall into the last bin, extreme logits do not overflow."""
    logits = np.array([[1e4, 0], [0, 1e4]], dtype=np.float32)

    assert "<svg" in figures.reliability(logits, np.array([0, 1]))


def test_latency_labels_every_timed_engine() -> None:
    """A cell without a time is left out."""
    cells = [
        {"engine": "eager", "median_ms": 0.7, "low_ms": 0.6, "high_ms": 0.8},
        {"engine": "openvino-fp32", "median_ms": None},
    ]

    svg = figures.latency(cells)

    assert "eager" in svg
    assert "openvino" not in svg


def test_thumbnails_are_small_pngs() -> None:
    """Grey and colour, small as they are or made small."""
    assert data_uri(np.zeros((8, 6, 1), dtype=np.uint8)).startswith("data:image/png;base64,iVBOR")
    large = np.random.default_rng(0).integers(0, 256, (500, 400, 3), dtype=np.uint8)
    assert len(data_uri(large)) < 60_000
