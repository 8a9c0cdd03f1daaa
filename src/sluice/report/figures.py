"""Figures as SVG that stands inside a page: no global state of matplotlib, no text that a user chose.

Shapes: N samples, K classes.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from io import StringIO
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

__all__ = ["confusion_image", "curves", "latency", "reliability"]

_INK = "#3d4451"
_BLUE = "#2f6db0"
_ORANGE = "#d9822b"
_PALE = "#dfe5ec"
_BINS = 15
_IDS = re.compile(r'(\bid="|href="#|url\(#)')


def curves(rows: Sequence[Mapping[str, float]], *, best_epoch: int | None) -> str:
    """Loss on train and val, and accuracy on val, by epoch."""
    with _style():
        figure = Figure(figsize=(9, 2.9), layout="constrained")
        losses, accuracy = figure.subplots(1, 2)
        epochs = _column(rows, "epoch")
        for name, label, colour in (("train_loss", "train", _BLUE), ("val_loss", "val", _ORANGE)):
            losses.plot(epochs, _column(rows, name), label=label, color=colour, marker="o", markersize=3)
        losses.legend(frameon=False, labelcolor=_INK)
        accuracy.plot(epochs, _column(rows, "val_accuracy"), color=_ORANGE, marker="o", markersize=3)
        for axes, title in ((losses, "Loss"), (accuracy, "Accuracy on val")):
            _calm(axes, title=title, xlabel="epoch")
            axes.xaxis.get_major_locator().set_params(integer=True)
            if best_epoch is not None:
                axes.axvline(best_epoch, color=_INK, linewidth=0.8, linestyle=":")
        return _svg(figure, name="curves")


def reliability(logits_NK: NDArray[np.float32], labels_N: NDArray[np.int64]) -> str:
    """How often the model is right when it says how sure it is; the diagonal is perfect, bars count samples."""
    shifted_NK = logits_NK.astype(np.float64) - logits_NK.max(axis=1, keepdims=True)
    confidence_N = 1 / np.exp(shifted_NK).sum(axis=1)
    correct_N = logits_NK.argmax(axis=1) == labels_N
    bin_N = np.clip(np.ceil(confidence_N * _BINS).astype(np.int64) - 1, 0, _BINS - 1)
    count = np.bincount(bin_N, minlength=_BINS)
    filled = count > 0
    mean_confidence = np.bincount(bin_N, weights=confidence_N, minlength=_BINS)[filled] / count[filled]
    accuracy = np.bincount(bin_N, weights=correct_N, minlength=_BINS)[filled] / count[filled]
    with _style():
        figure = Figure(figsize=(4.2, 3.4), layout="constrained")
        axes = figure.subplots()
        axes.bar((np.arange(_BINS) + 0.5) / _BINS, count / count.sum(), width=0.9 / _BINS, color=_PALE)
        axes.plot([0, 1], [0, 1], color=_INK, linewidth=0.8, linestyle=":")
        axes.plot(mean_confidence, accuracy, color=_BLUE, marker="o", markersize=3)
        axes.set(xlim=(0, 1), ylim=(0, 1.02))
        _calm(axes, title="Right, by how sure it was", xlabel="probability given")
        return _svg(figure, name="reliability")


def latency(cells: Sequence[Mapping[str, Any]]) -> str:
    """Median time of one sample with its interval, an engine a line, the quickest on top."""
    timed = sorted((cell for cell in cells if cell.get("median_ms")), key=lambda cell: -float(cell["median_ms"]))
    with _style():
        figure = Figure(figsize=(6, 0.8 + 0.35 * len(timed)), layout="constrained")
        axes = figure.subplots()
        for row, cell in enumerate(timed):
            middle = float(cell["median_ms"])
            low, high = (float(cell.get(name) or middle) for name in ("low_ms", "high_ms"))
            axes.barh(row, middle, height=0.55, color=_BLUE if cell["engine"] != "eager" else _PALE)
            axes.plot([low, high], [row, row], color=_INK, linewidth=1.2)
            axes.annotate(f"{middle:.3g} ms", (high, row), (6, 0), textcoords="offset points", va="center", color=_INK)
        axes.set_yticks(range(len(timed)), [cell["engine"] for cell in timed])
        axes.set_xlim(0, max((float(cell.get("high_ms") or cell["median_ms"]) for cell in timed), default=1) * 1.2)
        _calm(axes, title="", xlabel="ms for one sample, median and interval")
        return _svg(figure, name="latency")


def confusion_image(shares_KK: NDArray[np.float64]) -> str:
    """For more classes than a table can show: rows are actual, columns predicted, dark is often."""
    with _style():
        figure = Figure(figsize=(6.5, 6.5), layout="constrained")
        axes = figure.subplots()
        axes.imshow(shares_KK, cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
        _calm(axes, title="", xlabel="predicted, in the order of the table above")
        axes.set_ylabel("actual", color=_INK)
        return _svg(figure, name="confusion")


def _style() -> AbstractContextManager[None]:
    """Text stays text, in the font of the page; ids depend on the drawing alone."""
    return mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "sluice", "font.size": 9.0})


def _calm(axes: Axes, *, title: str, xlabel: str) -> None:
    axes.set_title(title, loc="left", color=_INK, fontsize=10)
    axes.set_xlabel(xlabel, color=_INK)
    axes.tick_params(colors=_INK, length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(_PALE)
    axes.grid(axis="both", color=_PALE, linewidth=0.6)
    axes.set_axisbelow(True)


def _column(rows: Sequence[Mapping[str, float]], name: str) -> list[float]:
    return [row.get(name, float("nan")) for row in rows]


def _svg(figure: Figure, *, name: str) -> str:
    """Ids get the figure's name before them: several drawings share one page."""
    out = StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    drawing = out.getvalue()
    return _IDS.sub(rf"\1{name}-", drawing[drawing.index("<svg") :])
