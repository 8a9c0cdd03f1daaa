"""Score the eager model and every export that passed parity, on the gate split."""

from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sluice import engines, tasks
from sluice.config import Params
from sluice.config.schema import read_schema
from sluice.data.store import open_split
from sluice.engines import Predictor
from sluice.errors import MissingLibrary, SluiceError
from sluice.evaluation import answers, metrics
from sluice.export.eager import eager_predictor
from sluice.io import files, paths
from sluice.io.evidence import Evidence

__all__ = ["run"]

_THREADS = 1

Ask = Callable[[Predictor], NDArray[np.float32]]


def run(params: Params) -> None:
    schema, split = read_schema(), open_split(paths.split_folder("gate"))
    labels, classes, confidence = split.labels, schema.classes, params.evaluate.confidence
    inputs_of = partial(tasks.load(schema.task).inputs, split)
    ask = partial(answers.collect_logits, inputs_of=inputs_of, n=len(labels), batch_size=params.evaluate.batch_size)
    eager = ask(eager_predictor(paths.TRAINED, threads=_THREADS))
    outputs: dict[str, NDArray[Any]] = {"labels": labels, "eager.logits": eager}
    scored = {}
    for engine in params.export.engines:
        answer = _answer(engine, ask)
        if isinstance(answer, dict):
            scored[engine] = answer
            continue
        scored[engine] = metrics.engine_metrics(answer, eager, labels, confidence=confidence)
        if scored[engine]["status"] == "ok":
            outputs[f"{engine}.logits"] = answer

    model = metrics.model_metrics(eager, labels, classes=classes, samples=split.samples, confidence=confidence)
    evidence = Evidence(
        stage="evaluate",
        weights=files.digest_file(paths.WEIGHTS),
        split="gate",
        split_digest=split.digest,
        exported=_exported(params.export.engines),
        params=params.evaluate.digest(),
    )
    with files.atomic_file(paths.OUTPUTS) as temporary, temporary.open("wb") as file:
        np.savez(file, **outputs)  # type: ignore[arg-type]
    files.write_csv(paths.PER_CLASS, *metrics.per_class_rows(eager, labels, classes=classes, confidence=confidence))
    files.write_csv(paths.CONFUSION, *metrics.confusion_rows(eager, labels, classes=classes))
    files.write_json(paths.METRICS, model | {"engines": scored, "evidence": evidence.as_json()})
    files.write_json(paths.SCORES, metrics.scores(model))
    print(metrics.sentence(model))


def _answer(engine: str, ask: Ask) -> NDArray[np.float32] | dict[str, Any]:
    """The engine's logits, or the state that says why there are none."""
    folder = paths.exported(engine)
    try:
        parity = files.read_json(folder / paths.PARITY_NAME)
        if parity["status"] != "ok":
            return metrics.unusable_engine(parity["status"], parity["reason"])
        with closing(engines.load(engine, folder, threads=_THREADS)) as predict:
            return ask(predict)
    except MissingLibrary as error:
        return metrics.unusable_engine("unavailable", str(error))
    except SluiceError as error:
        return metrics.unusable_engine("failed", str(error))


def _exported(names: tuple[str, ...]) -> dict[str, str]:
    folders = {name: paths.exported(name) for name in names}
    return {name: files.digest_folder(at, without=(paths.PARITY_NAME,)) for name, at in folders.items() if at.is_dir()}
