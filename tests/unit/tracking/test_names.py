import math
from pathlib import Path

import pytest
from mlflow.entities import Metric
from unit.tracking.judged import fresh_store

from sluice.errors import ConfigError
from sluice.tracking.names import check_alias, finite, flatten, slug, slugs

ODD = [
    "c++ & c#",
    "cat,dog",
    "50%",
    "a@1",
    "x (old)",
    "x" * 251,
    "a/../b",
    "a//b",
    "/a/",
    "..",
    ".",
    "",
    " ",
    "été:1",
    "日本",
    "a\nb",
    "\udcff",
]


def test_mlflow_takes_every_slug(workspace: Path) -> None:
    """F9: no class name, however odd, makes a metric that MLflow refuses."""
    store = fresh_store(workspace)
    run = store.client.create_run(store.experiment("names"))
    metrics = [Metric(f"class.{slug(name)}.recall", 0.5, 0, 0) for name in ODD]
    store.client.log_batch(run.info.run_id, metrics=metrics)
    store.client.set_terminated(run.info.run_id)
    assert len(store.client.get_run(run.info.run_id).data.metrics) == len(ODD)


def test_slugs_tell_names_apart_and_leave_plain_ones_alone() -> None:
    """F9: c++ and c# stay two metrics, and a plain name stays itself."""
    assert slugs(["cat", "val loss", "c++", "c#"]) == {
        "cat": "cat",
        "val loss": "val loss",
        "c++": slug("c++"),
        "c#": slug("c#"),
    }
    assert len({slug(name) for name in [*ODD, "c++", "c#", "c_"]}) == len(ODD) + 3
    assert slug("c++") == slug("c++")
    assert all(len(slug(name)) <= 110 for name in ODD)


def test_only_numbers_are_logged() -> None:
    """F10: NaN and infinities do not reach MLflow, which would lose or bend them."""
    assert finite({"a": 1, "b": math.nan, "c": math.inf, "d": -math.inf}) == {"a": 1.0}


def test_sections_become_dotted_parameters() -> None:
    """A parameter has the name that it has in params.yaml."""
    values = {"seed": 0, "train": {"optimizer": {"lr": 0.1}, "augment": {}}, "model": {"options": {"widths": [1, 2]}}}
    assert flatten(values) == {"seed": "0", "train.optimizer.lr": "0.1", "model.options.widths": "[1, 2]"}


@pytest.mark.parametrize("alias", ["latest", "LATEST", "v1", "V12", "candidate"])
def test_reserved_aliases_are_refused(alias: str) -> None:
    """F11: an alias that MLflow or register keeps for itself is refused before anything is done."""
    with pytest.raises(ConfigError, match=f"alias '{alias}' is reserved"):
        check_alias(alias)


@pytest.mark.parametrize("alias", ["a b", "prod/eu", "", "x" * 256, "ché", "a\n"])
def test_aliases_that_mlflow_cannot_keep_are_refused(alias: str) -> None:
    """F11: a bad alias is a clear error, with an example."""
    with pytest.raises(ConfigError, match="may hold only letters.*'champion'"):
        check_alias(alias)


@pytest.mark.parametrize("alias", ["champion", "prod-eu_2", "vienna"])
def test_good_aliases_pass(alias: str) -> None:
    """F11: what MLflow takes is taken."""
    assert check_alias(alias) == alias
