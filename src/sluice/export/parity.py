"""How far an engine's outputs are from the model's own, and how far they may be.

Arrays are float32, B samples by K classes, over all batches asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LIMITS", "Limits", "Parity", "Verdict", "compare", "judge"]

LOGITS = "logits"
PROBABILITIES = "probabilities"
_EXACT_DB = 300.0
_SAME_FOR_ALL = 1e-6
"""Outputs that vary by less than this share of their size say nothing about the input."""

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class Limits:
    sqnr_db: float
    relative_max: float | None
    kl_max: float
    top1_agreement: float


LIMITS = {  # by the precision that the engine executes, not the one asked for
    "fp32": Limits(sqnr_db=100, relative_max=1e-4, kl_max=1e-6, top1_agreement=1.0),
    "bf16": Limits(sqnr_db=45, relative_max=2e-2, kl_max=1e-3, top1_agreement=0.995),
    "fp16": Limits(sqnr_db=60, relative_max=5e-3, kl_max=1e-5, top1_agreement=0.999),
    "int8": Limits(sqnr_db=25, relative_max=None, kl_max=5e-3, top1_agreement=0.99),
}


@dataclass(frozen=True, kw_only=True)
class Parity:
    max_abs_error: float
    relative_max: float
    """The largest error over the largest logit."""
    sqnr_db: float
    """Signal to quantisation noise of the logits; 300 when they are equal."""
    kl_max: float
    """Largest divergence of one sample's probabilities, in nats."""
    top1_agreement: float


@dataclass(frozen=True)
class Verdict:
    reasons: tuple[str, ...]
    """None of them: the engine is as good as its precision allows."""
    parity: Parity | None = None
    limits: Limits | None = None


def judge(ours: Sequence[Arrays], engine: Sequence[Arrays], *, requested: str, executed: str) -> Verdict:
    """Compare batch by batch.

    The worst batch counts, number by number, so that large logits of one kind of input cannot hide errors in another's.
    """
    limits = LIMITS.get(executed)
    faults = dict.fromkeys(fault for pair in zip(ours, engine, strict=True) for fault in _faults(*pair))
    if faults:
        return Verdict(tuple(faults), None, limits)
    wrong = []
    if executed != requested or limits is None:
        wrong.append(f"it executes {executed}, not {requested}")
    if not any(_vary(batch) for batch in ours):
        wrong.append(
            "the model's logits are the same for every input, which shows nothing: train it or look at its input"
        )
    parities = [compare(*pair) for pair in zip(ours, engine, strict=True)]
    worst = Parity(
        max_abs_error=max(item.max_abs_error for item in parities),
        relative_max=max(item.relative_max for item in parities),
        sqnr_db=min(item.sqnr_db for item in parities),
        kl_max=max(item.kl_max for item in parities),
        top1_agreement=min(item.top1_agreement for item in parities),
    )
    return Verdict((*wrong, *(_beyond(worst, limits) if limits else ())), worst, limits)


def compare(ours: Arrays, engine: Arrays) -> Parity:
    """The model's own outputs and an engine's: finite, and of equal names and shapes (see `_faults`)."""
    a_BK, b_BK = (side[LOGITS].astype(np.float64) for side in (ours, engine))
    error_BK = a_BK - b_BK
    largest = float(np.abs(a_BK).max())
    noise = float((error_BK**2).sum())
    power = max(float((a_BK**2).sum()), noise * 1e-30)
    max_abs_error = float(np.abs(error_BK).max())
    return Parity(
        max_abs_error=max_abs_error,
        relative_max=max_abs_error / largest if largest else float(max_abs_error > 0),
        sqnr_db=10 * float(np.log10(power / noise)) if noise else _EXACT_DB,
        kl_max=float(_divergence(ours[PROBABILITIES], engine[PROBABILITIES]).max()),
        top1_agreement=float((a_BK.argmax(axis=1) == b_BK.argmax(axis=1)).mean()),
    )


def _vary(outputs: Arrays) -> bool:
    """Whether a model's logits depend on its input at all: where they do not, agreement proves nothing."""
    logits_BK = outputs[LOGITS]
    return bool(np.ptp(logits_BK, axis=0).max() > _SAME_FOR_ALL * np.abs(logits_BK).max())


def _faults(ours: Arrays, engine: Arrays) -> list[str]:
    """What makes a comparison pointless: other names, other shapes, or values that are not finite on either side."""
    if ours.keys() != engine.keys():
        return [f"the outputs are named {sorted(engine)}, not {sorted(ours)}"]
    found = []
    for name, array in ours.items():
        if array.shape != engine[name].shape:
            found.append(f"{name} has the shape {list(engine[name].shape)}, not {list(array.shape)}")
        for side, values in (("the model", array), ("the engine", engine[name])):
            broken = int(np.count_nonzero(~np.isfinite(values)))
            if broken:
                found.append(f"{name} holds {broken} values of {side} that are NaN or infinite")
    return found


def _beyond(parity: Parity, limits: Limits) -> list[str]:
    """Each limit that is broken, as a sentence; none when the engine is as good as its precision allows."""
    found = []
    if not parity.sqnr_db >= limits.sqnr_db:
        found.append(f"SQNR is {parity.sqnr_db:.1f} dB, the limit is {limits.sqnr_db:g}")
    if limits.relative_max is not None and not parity.relative_max <= limits.relative_max:
        found.append(f"the relative error is {parity.relative_max:.1e}, the limit is {limits.relative_max:g}")
    if not parity.kl_max <= limits.kl_max:
        found.append(f"the divergence is {parity.kl_max:.1e}, the limit is {limits.kl_max:g}")
    if not parity.top1_agreement >= limits.top1_agreement:
        found.append(f"top-1 agreement is {parity.top1_agreement:.4f}, the limit is {limits.top1_agreement:g}")
    return found


def _divergence(p_BK: NDArray[Any], q_BK: NDArray[Any]) -> NDArray[np.float64]:
    """Kullback-Leibler divergence of each row, in its form for rows that need not add up to 1; never negative."""
    p, q = (np.clip(side.astype(np.float64), 1e-30, None) for side in (p_BK, q_BK))
    return np.asarray((p * np.log(p / q) - p + q).sum(axis=1))
