import gzip
import json
from pathlib import Path

import pytest
from stages.tiny_store import tiny_params, write_store

from sluice import tasks
from sluice.config import Params
from sluice.config.schema import read_schema
from sluice.errors import MissingArtifact
from sluice.io import files, paths
from sluice.models.trained import Card, save_trained
from sluice.profiling.record import MAX_TRACE_BYTES
from sluice.stages import profile
from sluice.training.resolved import overlay, resolve_once


@pytest.fixture
def trained(workspace: Path, repository: Path) -> Params:
    """A prepared store and an untrained net in the place of the trained one."""
    write_store()
    params = tiny_params(repository, profile={"wait": 1, "warmup": 1, "active": 3})
    card = Card(task=params.task, model=params.model, schema=read_schema(), seed=0)
    save_trained(paths.TRAINED, tasks.load(params.task).module(card.model, schema=card.schema, seed=0), card)
    resolve_once(paths.RESOLVED, overlay({}, model=params.model, train=params.train), seed=0)
    return params


def test_says_where_a_step_of_real_batches_goes(trained: Params) -> None:
    """Shares of every part, the bottleneck among them, ten operators, peak memory, and what it was made from."""
    profile.run(trained)

    report = files.read_json(paths.PROFILE / "profile.json")
    assert report["steps"] == 3
    assert report["step_ms"] > 0
    assert sum(report["shares"].values()) == pytest.approx(1)
    assert report["bottleneck"] in report["shares"]
    assert [*report["top_operators"][0]] == ["name", "self_ms", "calls", "share"]
    assert report["memory"]["peak_mib"] > 0
    assert report["evidence"]["weights"] == files.digest_file(paths.WEIGHTS)
    assert (report["evidence"]["split"], report["evidence"]["split_digest"]) == ("train", "train")


def test_the_trace_is_bounded_and_whole(trained: Params) -> None:
    """B21: a gzipped trace below the cap that a viewer can open."""
    profile.run(trained)

    trace = paths.PROFILE / "trace.json.gz"
    assert trace.stat().st_size < MAX_TRACE_BYTES
    assert json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]


def test_changes_nothing_on_disk(trained: Params) -> None:
    """The steps go through a copy: model and data are as before."""
    before = files.digest_folder(paths.TRAINED), files.digest_folder(paths.PREPARED)

    profile.run(trained)

    assert (files.digest_folder(paths.TRAINED), files.digest_folder(paths.PREPARED)) == before


def test_without_a_model_says_what_to_run(trained: Params) -> None:
    """A missing artefact is named with its remedy."""
    paths.MODEL_CARD.unlink()

    with pytest.raises(MissingArtifact, match=r"model\.json does not exist.*dvc repro"):
        profile.run(trained)
