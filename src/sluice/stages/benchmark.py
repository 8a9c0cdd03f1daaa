"""Time every engine whose parity is ok against eager and each other, one sample at a time and in batches."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sluice import tasks
from sluice.benchmark.cells import Refusal, Scenario, cell, sentence
from sluice.benchmark.clock import StealMeter
from sluice.benchmark.timing import measure
from sluice.config import Params
from sluice.config.plugins import split_engine_name
from sluice.data.store import open_split
from sluice.engines import Predictor, load
from sluice.errors import SluiceError
from sluice.export.eager import eager_predictor
from sluice.io import files, paths
from sluice.io.evidence import Evidence
from sluice.models.trained import read_card

__all__ = ["run"]

_EAGER = "eager"


def run(params: Params) -> None:
    config, card, val = params.benchmark, read_card(paths.TRAINED), open_split(paths.split_folder("val"))
    task = tasks.load(card.task)
    scenarios = [
        Scenario("single_stream", 1, config.threads),
        Scenario("offline", config.offline_batch, config.threads),
    ]
    inputs = {item.name: task.inputs(val, np.resize(np.arange(len(val)), item.batch).tolist()) for item in scenarios}
    eager = eager_predictor(paths.TRAINED, threads=config.threads)
    engines = {engine: _load(engine, threads=config.threads, trial=inputs) for engine in params.export.engines}
    ready: dict[str, Predictor] = {_EAGER: eager}
    ready |= {name: item for name, item in engines.items() if not isinstance(item, Refusal)}
    noise, cells = StealMeter(), []
    for scenario in scenarios:
        arms = {name: partial(predictor, inputs[scenario.name]) for name, predictor in ready.items()}
        timed = measure(arms, reference=_EAGER, batch=scenario.batch, rounds=config.rounds, seed=card.seed)
        cells.append(cell(_EAGER, timed[_EAGER], precision=eager.executed_precision, scenario=scenario))
        for name, item in engines.items():
            result = item if isinstance(item, Refusal) else timed[name]
            cells.append(cell(name, result, precision=split_engine_name(name)[1], scenario=scenario))
    for predictor in ready.values():
        predictor.close()
    evidence = Evidence(
        stage="benchmark",
        weights=files.digest_file(paths.WEIGHTS),
        split=val.name,
        split_digest=val.digest,
        exported={name: files.digest_folder(paths.exported(name), without=(paths.PARITY_NAME,)) for name in engines},
        params=config.digest(),
    )
    report = {"cells": cells, "rounds": config.rounds, "noise": {"steal_share": noise.share()}}
    files.write_json(paths.BENCHMARK, {**report, "evidence": evidence.as_json()})
    print("\n".join(map(sentence, cells)))


def _load(engine: str, *, threads: int, trial: Mapping[str, Mapping[str, NDArray[Any]]]) -> Predictor | Refusal:
    """An engine that has answered every scenario's inputs once, or why it is not to be timed."""
    folder = paths.exported(engine)
    parity = files.read_json(folder / paths.PARITY_NAME)
    if parity["status"] != "ok":
        return Refusal(parity["status"], parity["reason"])
    try:
        predictor = load(engine, folder, threads=threads)
        for inputs in trial.values():
            predictor(inputs)
    except SluiceError as error:
        return Refusal("failed", str(error))
    return predictor
