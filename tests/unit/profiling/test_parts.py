import time

import pytest
import torch
from unit.profiling.workload import workload

from sluice.profiling.parts import time_parts


def test_the_shares_add_up_and_name_every_part() -> None:
    """Nothing of a step's time is lost or counted twice."""
    timing = time_parts(workload(clip_norm=1.0), warmup=2, steps=10)

    assert list(timing.shares) == ["data", "forward", "backward", "optimizer", "other"]
    assert sum(timing.shares.values()) == pytest.approx(1)
    assert min(timing.shares.values()) >= 0
    assert timing.step_ms > 0


def test_a_slow_loader_is_named_as_the_bottleneck() -> None:
    """The bottleneck is the part with the largest share."""
    timing = time_parts(workload(load=lambda: time.sleep(0.02)), warmup=1, steps=3)

    assert timing.bottleneck == "data"
    assert timing.shares["data"] > 0.5
    assert timing.step_ms > 20


def test_fewer_batches_than_steps_go_on_in_the_next_epoch() -> None:
    """A data set of one batch can be profiled for ten steps."""
    assert time_parts(workload(batches=1), warmup=1, steps=10).steps == 10


def test_the_steps_are_real_training_steps() -> None:
    """What is measured learns: the weights of the given net move."""
    work = workload()
    before = work.net.state_dict()["0.bias"].clone()

    time_parts(work, warmup=1, steps=3)

    assert not torch.equal(before, work.net.state_dict()["0.bias"])
