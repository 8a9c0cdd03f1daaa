"""Load a registered model as its users do, with neither torch nor sluice, and hold it against golden.npz.

    python consumer.py TRACKING_URI MODEL_URI GOLDEN_NPZ

Prints per batch size the worst of all outputs: SQNR in dB, largest error relative to the largest value, and for logits
the mean KL divergence of the softmax and the agreement of the classes. Exits 1 where a limit of fp32 is not held.
"""

import importlib.abc
import json
import sys
from typing import Any


class _Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] in {"torch", "torchvision", "sluice"}:
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, _Blocked())

import mlflow  # noqa: E402
import numpy as np  # noqa: E402

LIMITS = {"sqnr_db": 100.0, "relative": 1e-4, "kl": 1e-6, "agreement": 1.0}


def main(tracking_uri: str, model_uri: str, golden_npz: str) -> int:
    mlflow.set_tracking_uri(tracking_uri)
    model = mlflow.pyfunc.load_model(model_uri)
    golden = np.load(golden_npz, allow_pickle=False)
    named = {
        kind: {key.removeprefix(f"{kind}."): golden[key] for key in golden.files if key.startswith(f"{kind}.")}
        for kind in ("input", "output")
    }
    found = {}
    for size in (1, 2, 7, 8, 1):
        given = model.predict({name: array[:size] for name, array in named["input"].items()})
        parts = [_agreement(given[name], array[:size], name=name) for name, array in named["output"].items()]
        found[size] = {key: pick([part[key] for part in parts if key in part]) for key, pick in PICK.items()}
    print(json.dumps(found))
    return int(not all(_holds(figures) for figures in found.values()))


PICK = {"sqnr_db": min, "relative": max, "kl": max, "agreement": min}


def _agreement(given: Any, wanted: Any, *, name: str) -> dict[str, float]:
    assert given.shape == wanted.shape, (name, given.shape, wanted.shape)
    error = np.asarray(given, np.float64) - wanted
    signal = float((wanted.astype(np.float64) ** 2).sum())
    figures = {
        "sqnr_db": 10 * float(np.log10(signal / max(float((error**2).sum()), signal * 1e-30))),
        "relative": float(np.abs(error).max() / np.abs(wanted).max()),
    }
    if name == "logits":
        p, q = _log_softmax(wanted), _log_softmax(given)
        figures["kl"] = float((np.exp(p) * (p - q)).sum(axis=1).mean())
        figures["agreement"] = float((given.argmax(axis=1) == wanted.argmax(axis=1)).mean())
    return figures


def _log_softmax(logits: Any) -> Any:
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def _holds(figures: dict[str, float]) -> bool:
    return all(figures[key] >= limit if PICK[key] is min else figures[key] <= limit for key, limit in LIMITS.items())


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
