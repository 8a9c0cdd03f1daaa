"""The command `sluice`: the only argument parser. A stage's code is imported when it is called, not before."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sluice.errors import SluiceError, WorkspaceError
from sluice.io import telemetry

if TYPE_CHECKING:
    from sluice.config import Params

__all__ = ["STAGES", "app", "main"]

STAGES = {
    "environment": "What this machine has.",
    "registry": "Which store, and which champion it holds.",
    "validate": "Decode every sample, quarantine what is broken, judge the rest.",
    "drift": "Compare the data with those that the champion was trained on.",
    "prepare": "Split, map classes to indices, write the memory-mapped store.",
    "tune": "Search hyper-parameters.",
    "train": "Fit the model; resumes after a kill.",
    "profile": "Where the time of a training step goes.",
    "capture": "One graph with symbolic dimensions, and the ONNX made from it.",
    "evaluate": "Score the model and every export on the gate split.",
    "benchmark": "Time the engines against eager and each other.",
    "compare": "Candidate against champion: accuracy and latency, paired.",
    "register": "Bring run, reports and version to MLflow, as the verdict says.",
    "report": "One HTML page of everything.",
}

app = typer.Typer(
    help=__doc__.splitlines()[0] if __doc__ else None,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    try:
        app()
    except SluiceError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


def _stage(name: str) -> Callable[[], None]:
    def command() -> None:
        with _alone(name) as params:
            _module("stages", name).run(params)

    command.__doc__ = STAGES[name]
    return command


for _name in STAGES:
    app.command(_name, rich_help_panel="Stages")(_stage(_name))


@app.command(rich_help_panel="Stages")
def export(engine: Annotated[str, typer.Argument(help="as in export.engines: onnxruntime-fp32")]) -> None:
    """Make and check one engine's files."""
    with _alone("export", engine) as params:
        _module("stages", "export").run(params, engine)


@app.command(rich_help_panel="Stages")
def gate(
    check: Annotated[
        bool, typer.Option("--check", help="Judge again, write nothing: exit 0 PROMOTE, 10 HOLD, 11 REJECT.")
    ] = False,
) -> None:
    """Judge all evidence."""
    if check:
        params = _params()
        raise typer.Exit(_module("stages", "gate").check(params))
    with _alone("gate") as params:
        _module("stages", "gate").run(params)


@app.command()
def fetch(
    name: Annotated[str | None, typer.Argument(help="fashion-mnist, mnist or digits; default: data.fetch")] = None,
    origin: Annotated[str | None, typer.Option(help="A local folder, or a base URL, to take the files from.")] = None,
) -> None:
    """Bring a data set to data/raw, check it, version it with DVC."""
    _enter_workspace()
    _module("commands", "fetch").fetch(name or _params().data.fetch, origin=origin)


@app.command()
def preset(name: Annotated[str, typer.Argument(help="a file in params/: demo, mnist, digits")]) -> None:
    """Copy a preset to params.yaml, unless that holds changes of yours."""
    _enter_workspace()
    _module("commands", "preset").use(name)


@app.command()
def schema() -> None:
    """Print the JSON Schema of params.yaml."""
    import json

    typer.echo(json.dumps(_module("config", "params").json_schema(), indent=2))


@app.command()
def summary() -> None:
    """Verdict, accuracy, engines and version on one screen."""
    _enter_workspace()
    _module("commands", "summary").summary()


@app.command()
def promote(
    version: Annotated[int | None, typer.Argument(help="default: the version with alias candidate")] = None,
    force: Annotated[bool, typer.Option("--force", help="Promote a HOLD or REJECT; needs --reason.")] = False,
    reason: Annotated[str | None, typer.Option(help="Why; goes on record.")] = None,
    alias: Annotated[str, typer.Option(help="Another alias, for a deployment of its own.")] = "champion",
) -> None:
    """Make a version the champion, after checking its recorded verdict, digests and answers."""
    params = _params()
    _module("commands", "promote").promote(params, version=version, alias=alias, force=force, reason=reason)


@app.command()
def rollback(
    to: Annotated[int | None, typer.Option(help="default: the champion before this one")] = None,
    reason: Annotated[str | None, typer.Option(help="Why; goes on record.")] = None,
    alias: Annotated[str, typer.Option(help="Another alias, for a deployment of its own.")] = "champion",
) -> None:
    """Give the alias champion back to an earlier version."""
    params = _params()
    _module("commands", "rollback").rollback(params, to=to, alias=alias, reason=reason)


@app.command()
def history() -> None:
    """Who promoted what, when and why."""
    params = _params()
    _module("commands", "history").history(params)


@app.command()
def plan() -> None:
    """What dvc repro would run, and why; nothing is run."""
    _enter_workspace()
    _module("commands", "plan").plan()


@app.command()
def doctor(
    export: Annotated[
        bool, typer.Option("--export", help="Also try, in seconds, to export the configured model.")
    ] = False,
) -> None:
    """What is wrong with this machine or workspace, each with its remedy."""
    _enter_workspace()
    if _module("commands", "doctor").doctor(export=export):
        raise typer.Exit(1)


@contextmanager
def _alone(stage: str, item: str | None = None) -> "Iterator[Params]":
    """The parameters, for as long as no other process runs this stage in this workspace."""
    from sluice.io import process

    process.die_with_parent()
    params = _params()
    with process.only_one(f"{stage}@{item}" if item else stage):
        yield params


def _params() -> "Params":
    from sluice import config

    _enter_workspace()
    return config.load()


def _module(package: str, name: str) -> Any:
    telemetry.off()
    return import_module(f"sluice.{package}.{name}")


def _enter_workspace() -> None:
    """Go to the nearest folder, from here upwards, that holds dvc.yaml and params.yaml or presets."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "dvc.yaml").exists():
            os.chdir(folder)
            return
    raise WorkspaceError(f"{here} is not inside a Sluice workspace: no dvc.yaml here or above. Go to your clone first.")
