"""Search hyper-parameters on train and val, and hand the best values on in a file."""

from importlib import metadata

from sluice import tasks
from sluice.config import Params
from sluice.config.schema import Schema, read_schema
from sluice.data.store import Split, open_split, subset
from sluice.io import files, paths
from sluice.io.evidence import code_digest
from sluice.sweep.results import write_best, write_trials
from sluice.sweep.search import Best, Pruned, Report, Value, search
from sluice.tasks.learning import bind
from sluice.tracking.live import LiveRun, close_stale_runs, start_run
from sluice.tracking.store import open_store
from sluice.training.fit import Epoch, fit
from sluice.training.resolved import overlay

__all__ = ["run"]


def run(params: Params) -> None:
    best = _search(params) if params.tune.trials else None
    write_best(paths.BEST_PARAMS, best)
    write_trials(paths.TRIALS, best, keys=params.tune.space)


def _search(params: Params) -> Best:
    config, seed, schema, name = params.tune, params.seed, read_schema(), params.registry.name
    train, val = open_split(paths.split_folder("train")), open_split(paths.split_folder("val"))
    key = _key(params, schema=schema, splits=(train, val))
    store = open_store(params.tracking)
    close_stale_runs(store, experiment=name)
    with start_run(store, experiment=name, run_name=f"tune {key[:8]}", tags={}) as parent:
        few = subset(train, share=config.subset, seed=seed)

        def objective(values: dict[str, Value], report: Report) -> float:
            live = start_run(store, experiment=name, run_name=f"trial {report.number}", tags={}, parent=parent)
            return _score(params, values, live=live, report=report, train=few, val=val)

        best = search(config, objective=objective, storage=paths.STATE / "studies", study_key=key, seed=seed)
        parent.log_metrics({"best_score": best.score}, step=len(best.trials))
    print(f"best of {len(best.trials)} trials: {best.score:.4f} with {dict(best.values)}")
    return best


def _score(
    params: Params, values: dict[str, Value], *, live: LiveRun, report: Report, train: Split, val: Split
) -> float:
    """Accuracy on val after `tune.epochs` on a part of train."""
    task, seed, schema = tasks.load(params.task), params.seed, read_schema()
    with live:
        live.log_params(values)
        resolved = overlay(values, model=params.model, train=params.train)
        config = resolved.train.model_copy(update={"epochs": params.tune.epochs})
        net = task.module(resolved.model, schema=schema, seed=seed)
        learning = bind(task, train=train, val=val, schema=schema, config=config, seed=seed)

        def on_epoch_end(epoch: Epoch) -> None:
            print(f"trial {report.number}  {epoch.line(epochs=config.epochs)}", flush=True)
            live.log_metrics(epoch.curves(), step=epoch.epoch)
            report(epoch.epoch, epoch.val_accuracy)

        try:
            fitted = fit(config, net=net, learning=learning, seed=seed, checkpoints=None, on_epoch_end=on_epoch_end)
        except Pruned as reason:
            pruned = reason
        else:
            return fitted.kept.val_accuracy
    raise pruned  # out here: its MLflow run has finished, and has not failed


def _key(params: Params, *, schema: Schema, splits: tuple[Split, ...]) -> str:
    """Digest of all that a score depends on. How many trials are wanted is left out: more go on with the same study."""
    data = {split.name: split.digest for split in splits} | {"schema": schema.digest()}
    sections = [params.model.digest(), params.train.digest(), params.tune.model_dump(mode="json", exclude={"trials"})]
    plugins = {str(file): files.digest_file(file) for file in paths.PLUGINS.rglob("*.py")}
    code = [plugins, code_digest("tune"), metadata.version("torch")]
    return files.digest_json([params.task, params.seed, data, sections, code])
