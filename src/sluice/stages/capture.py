"""Capture the trained model as one graph, and write the ONNX file that engines start from."""

from sluice import tasks
from sluice.config import Params
from sluice.data.store import open_split
from sluice.export.capture import capture
from sluice.export.eager import eager_predictor
from sluice.export.golden import Golden, write_golden
from sluice.export.probes import random_inputs, spread_rows
from sluice.export.signature import build
from sluice.io import files, paths
from sluice.tasks.trained import load_trained

__all__ = ["run"]

_GOLDEN_SAMPLES = 8


def run(params: Params) -> None:
    net, card = load_trained(paths.TRAINED)
    task = tasks.load(card.task)
    signature = build(task.signature(card.schema), weights=files.digest_file(paths.WEIGHTS), opset=params.capture.opset)
    if params.report.images:
        val = open_split(paths.split_folder("val"))
        inputs = task.inputs(val, spread_rows(val.labels, n=_GOLDEN_SAMPLES))
    else:
        inputs = random_inputs(signature, n=_GOLDEN_SAMPLES, seed=card.seed)
    outputs = eager_predictor(paths.TRAINED, threads=1)(inputs)
    with files.atomic_folder(paths.CAPTURED) as folder:
        capture(task.deployable(net, schema=card.schema), signature=signature, folder=folder)
        write_golden(folder / paths.GOLDEN_NAME, Golden(inputs, outputs))
    print(f"captured as {paths.CAPTURED / paths.GRAPH_NAME} and {paths.CAPTURED / paths.ONNX_NAME}")
