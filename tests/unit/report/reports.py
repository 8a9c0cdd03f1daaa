"""A workspace full of reports as the stages write them, small and made up."""

from pathlib import Path
from typing import Any

import numpy as np

from sluice.io import files, paths

CLASSES = ("shirt", "coat", "<script>alert(1)</script>", "$x^{$ & 日本語")
WORST = "gate images#7"


def around(value: float, half: float) -> dict[str, float]:
    return {"value": value, "low": value - half, "high": value + half}


def write_all(*, verdict: str = "PROMOTE", classes: tuple[str, ...] = CLASSES, tuned: bool = True) -> None:
    """Fill the current folder."""
    weights = write_model(tuned=tuned)
    evidence = {"weights": weights, "split": "gate", "split_digest": "f" * 64, "exported": {}}
    write_evaluation(classes=classes, evidence=evidence)
    write_engines(evidence=evidence)
    write_verdict(verdict, weights=weights)
    write_data(classes=classes)
    files.write_json(
        paths.PROFILE / "profile.json",
        {
            "steps": 10,
            "step_ms": 41.2,
            "shares": {"data": 0.1, "forward": 0.35, "backward": 0.45, "optimizer": 0.08, "other": 0.02},
            "bottleneck": "backward",
            "top_operators": [{"name": "aten::convolution_backward", "self_ms": 12.3, "calls": 7, "share": 0.31}],
            "memory": {"peak_mib": 512.4},
            "evidence": evidence,
        },
    )
    files.write_json(
        paths.ENVIRONMENT, {"python": "3.11.7", "cores": 2, "gpus": [], "libraries": {"torch": "2.14.1", "timm": None}}
    )


def write_model(*, tuned: bool) -> str:
    files.write_text(paths.WEIGHTS, "weights")
    files.write_text(
        paths.RESOLVED,
        "seed: 0\nmodel:\n  name: resnet\n  options:\n    widths: [16, 32]\n"
        "train:\n  epochs: 3\n  optimizer:\n    lr: 0.31\n"
        "sources:\n  train.optimizer.lr: " + ("tune" if tuned else "params.yaml") + "\n",
    )
    files.write_text(paths.BEST_PARAMS, "values:\n  train.optimizer.lr: 0.31\nscore: 0.9\ntrials: 3\n")
    files.write_csv(
        paths.CURVES,
        ["epoch", "lr", "train_loss", "val_loss", "val_accuracy", "grad_norm"],
        [[1, 0.2, 0.8, 0.6, 0.79, 1.2], [2, 0.4, 0.5, 0.4, 0.86, 0.9], [3, 0.01, 0.3, 0.35, 0.9, 0.7]],
    )
    weights = files.digest_file(paths.WEIGHTS)
    files.write_json(
        paths.TRAINING_SUMMARY,
        {"epochs": 3, "best_epoch": 3, "val_accuracy": 0.9, "val_loss": 0.35, "parameters": 123456, "sources": {}}
        | {"evidence": {"weights": weights}},
    )
    files.write_json(paths.TRAINING_SPEED, {"images_per_s": 3011.4, "seconds": 55.2, "resumed_from_epoch": None})
    return weights


def write_evaluation(*, classes: tuple[str, ...], evidence: dict[str, Any]) -> None:
    draw = np.random.default_rng(0)
    count = len(classes)
    labels = draw.integers(0, count, 400)
    logits = draw.normal(0, 1, (400, count)).astype(np.float32)
    logits[np.arange(400), labels] += 3
    with files.atomic_file(paths.OUTPUTS) as temporary, temporary.open("wb") as file:
        np.savez(file, **{"labels": labels, "eager.logits": logits})
    chosen = logits.argmax(axis=1)
    files.write_csv(
        paths.CONFUSION,
        ["actual", "predicted"],
        [[classes[label], classes[guess]] for label, guess in zip(labels, chosen, strict=True)],
    )
    scores = {"precision": 0.9, "recall": 0.91, "f1": 0.905, "support": 100}
    empty = {"precision": None, "recall": None, "f1": None, "support": 0, "reason": "no support"}
    scored = {"accuracy": around(0.91, 0.01) | {"n": 400}, "agreement": 1.0, "difference": around(0, 0)}
    files.write_json(
        paths.METRICS,
        {
            "accuracy": around(0.91, 0.01) | {"n": 400},
            "balanced_accuracy": around(0.905, 0.012),
            "worst_class": {"name": classes[0], "recall": 0.8, "n": 100},
            "majority_baseline": 0.25,
            "ece": 0.021,
            "nll": 0.31,
            "per_class": dict.fromkeys(classes[:-1], scores) | {classes[-1]: empty},
            "worst_samples": [
                {"sample": WORST, "label": classes[0], "predicted": classes[2], "probability": 0.99},
                {"sample": "a/b.png", "label": classes[1], "predicted": None, "probability": None},
            ],
            "engines": {
                "onnxruntime-fp32": {"status": "ok", "reason": ""} | scored,
                "openvino-fp32": {"status": "refused", "reason": "SQNR 44 dB, limit 100 dB"}
                | {"accuracy": None, "agreement": None, "difference": None},
            },
            "evidence": evidence,
        },
    )


def write_engines(*, evidence: dict[str, Any]) -> None:
    fine = {"status": "ok", "reason": "", "max_abs_error": 4.8e-7, "sqnr_db": 139.0}
    for engine, parity in {
        "onnxruntime-fp32": fine | {"clean_process": {"status": "ok", "reason": ""}},
        "openvino-fp32": {"status": "refused", "reason": "SQNR 44 dB, limit 100 dB", "max_abs_error": 0.01}
        | {"clean_process": {"status": "ok", "reason": ""}},
    }.items():
        files.write_json(paths.exported(engine) / paths.PARITY_NAME, {"engine": engine} | parity)
    cells = []
    for engine, median in (("eager", 0.73), ("onnxruntime-fp32", 0.18)):
        for scenario, batch in (("single_stream", 1), ("offline", 64)):
            time = {"median_ms": median * batch**0.5, "low_ms": median * batch**0.5 * 0.95}
            cells.append(
                {"engine": engine, "precision": "fp32", "batch": batch, "threads": 1, "scenario": scenario}
                | {"status": "ok", "reason": "", "high_ms": median * batch**0.5 * 1.1, "p90_ms": None}
                | {"samples_per_s": 1000 / median, "ratio_to_eager": around(median / 0.73, 0.02)}
                | time
            )
    refused = {"engine": "openvino-fp32", "scenario": "single_stream", "status": "refused", "reason": "parity"}
    files.write_json(paths.BENCHMARK, {"cells": [*cells, refused], "rounds": 20, "evidence": evidence})
    files.write_json(
        paths.COMPARISON,
        {
            "champion": {"version": 3, "weights": "c" * 64, "run_id": "r"},
            "same": False,
            "verdict_on_record": None,
            "accuracy": {"status": "ok", "candidate": 0.91, "champion": 0.9, "difference": around(0.01, 0.004)}
            | {"n": 400, "classes_compared": [], "reason": ""},
            "latency": {
                "onnxruntime-fp32": {"status": "inconclusive", "ratio": around(1.04, 0.03), "aa": around(1, 0.01)}
                | {"pairs": 160, "reason": "the interval straddles 1.05"}
            },
            "evidence": evidence,
        },
    )


def write_verdict(verdict: str, *, weights: str) -> None:
    counts_as = "pass" if verdict == "PROMOTE" else verdict
    deciding = {"name": "floor:accuracy", "status": "ok" if counts_as == "pass" else "fail", "counts_as": counts_as}
    files.write_json(
        paths.VERDICT,
        {
            "verdict": verdict,
            "checks": [
                {"name": "evidence_complete", "status": "ok", "counts_as": "pass"}
                | {"value": None, "limit": None, "reason": "all reports are there"},
                deciding | {"value": 0.91, "limit": 0.88, "reason": "accuracy is judged against its floor [0.88]"},
            ],
            "candidate": {"weights": weights, "exported": {}},
            "champion": {"version": 3, "weights": "c" * 64},
            "repeated": False,
            "evidence": {"weights": weights},
        },
    )
    version = None if verdict == "REJECT" else 4
    files.write_json(
        paths.REGISTERED,
        {
            "name": "clothes",
            "version": version,
            "digest": weights,
            "verdict": verdict,
            "run_id": "abc123",
            "store": "s",
        },
    )
    files.write_json(paths.REGISTRY, {"store": "s", "champion": {"version": 3, "weights": "c" * 64}})


def write_data(*, classes: tuple[str, ...]) -> None:
    files.write_json(
        paths.VALIDATION_SUMMARY,
        {
            "samples": 1002,
            "accepted": 1000,
            "quarantined": [{"path": "cat/<b>cut</b>.jpg", "reason": "truncated"}],
            "ignored": 3,
            "classes": dict.fromkeys(classes, 250),
            "splits": {},
            "findings": [{"rule": "imbalance", "severity": "warn", "message": f"{classes[2]} has 10 times as many"}],
        },
    )
    files.write_json(
        paths.DRIFT,
        {
            "status": "drift",
            "features": [{"name": "mean", "psi": 0.31, "p_value": 0.001, "p_adjusted": 0.004, "drifted": True}],
            "labels": {},
            "message": "mean moved away from the champion's data",
            "champion": {"version": 3},
        },
    )


def every_report() -> list[Path]:
    return sorted(path for folder in (Path("reports"), Path("models")) for path in folder.rglob("*") if path.is_file())
