"""Fit the model. A killed training goes on from its last epoch; a finished one leaves no checkpoint behind."""

import shutil
from importlib import metadata
from pathlib import Path

from sluice import tasks
from sluice.config import Params
from sluice.config.schema import Schema, read_schema
from sluice.data.store import Split, open_split
from sluice.io import files, paths
from sluice.io.evidence import Evidence, code_digest
from sluice.models.trained import Card, save_trained
from sluice.tasks.learning import bind
from sluice.tracking.live import LiveRun, close_stale_runs, start_run
from sluice.tracking.store import open_store
from sluice.training import checkpoint
from sluice.training.fit import Epoch, fit
from sluice.training.resolved import Resolved, overlay, read_tuned, resolve_once
from sluice.training.summary import scores, speed, summary

__all__ = ["run"]

_CHECKPOINTS = paths.STATE / "checkpoints"


def run(params: Params) -> None:
    schema, seed, task = read_schema(), params.seed, tasks.load(params.task)
    train, val = open_split(paths.split_folder("train")), open_split(paths.split_folder("val"))
    tuned = read_tuned(paths.BEST_PARAMS, space=params.tune.space) if params.train.use_tuned else {}
    resolved = overlay(tuned, model=params.model, train=params.train)
    folder = checkpoint.open_folder(_CHECKPOINTS, key=_key(resolved, params=params, schema=schema, splits=(train, val)))
    resolved = resolve_once(folder / paths.RESOLVED.name, resolved, seed=seed)
    config = resolved.train
    net = task.module(resolved.model, schema=schema, seed=seed)
    learning = bind(task, train=train, val=val, schema=schema, config=config, seed=seed)
    with _live_run(params, folder=folder) as live:
        live.log_params(resolved.as_dict(seed=seed))

        def on_epoch_end(epoch: Epoch) -> None:
            print(epoch.line(epochs=config.epochs), flush=True)
            live.log_metrics(epoch.curves() | {"images_per_s": epoch.images_per_s}, step=epoch.epoch)

        fitted = fit(config, net=net, learning=learning, seed=seed, checkpoints=folder, on_epoch_end=on_epoch_end)
        save_trained(paths.TRAINED, net, Card(task=params.task, model=resolved.model, schema=schema, seed=seed))
        shutil.copyfile(folder / paths.RESOLVED.name, paths.RESOLVED)
        rows = [{"epoch": epoch.epoch} | epoch.curves() for epoch in fitted.epochs]
        files.write_csv(paths.CURVES, list(rows[0]), [list(row.values()) for row in rows])
        weights = files.digest_file(paths.WEIGHTS)
        evidence = _evidence(params, weights=weights, val=val).as_json()
        files.write_json(paths.TRAINING_SUMMARY, summary(fitted, sources=resolved.sources, evidence=evidence))
        files.write_json(paths.TRAINING_SCORES, scores(fitted))
        files.write_json(paths.TRAINING_SPEED, speed(fitted))
        live.tag("sluice.weights", weights)
    shutil.rmtree(folder)


def _key(resolved: Resolved, *, params: Params, schema: Schema, splits: tuple[Split, ...]) -> str:
    """Digest of all that the result depends on: a changed training starts afresh."""
    splits_and_plugins = {split.name: split.digest for split in splits}
    splits_and_plugins |= {str(file): files.digest_file(file) for file in paths.PLUGINS.rglob("*.py")}
    versions = [code_digest("train"), metadata.version("torch")]
    return files.digest_json(
        [params.task, resolved.as_dict(seed=params.seed), schema.digest(), splits_and_plugins, versions]
    )


def _live_run(params: Params, *, folder: Path) -> LiveRun:
    """The run of the interrupted training whose checkpoints `folder` has, or a new one."""
    known, name, store = folder / "run_id", params.registry.name, open_store(params.tracking)
    close_stale_runs(store, experiment=name)
    before = known.read_text(encoding="utf-8") if known.exists() else None
    live = start_run(store, experiment=name, run_name=f"train {folder.name[:8]}", tags={}, resume_run_id=before)
    files.write_text(known, live.run_id)
    return live


def _evidence(params: Params, *, weights: str, val: Split) -> Evidence:
    digest = files.digest_json([params.model.digest(), params.train.digest(), params.seed, params.task])
    # The machine's report is no dep of this stage, so it may not show in its outs.
    return Evidence(
        stage="train", weights=weights, split=val.name, split_digest=val.digest, params=digest, environment=None
    )
