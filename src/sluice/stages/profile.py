"""Where the time of a training step goes: real train batches through a copy of the trained net."""

from dataclasses import asdict
from functools import partial

import torch

from sluice import tasks
from sluice.config import Params
from sluice.data.store import open_split
from sluice.io import files, paths
from sluice.io.evidence import Evidence
from sluice.profiling.parts import Workload, time_parts
from sluice.profiling.record import peak_memory_mib, record
from sluice.tasks.trained import load_trained
from sluice.training.determinism import isolated
from sluice.training.optimizer import make_optimizer
from sluice.training.resolved import read_resolved

__all__ = ["run"]


def run(params: Params) -> None:
    train = open_split(paths.split_folder("train"))
    net, card = load_trained(paths.TRAINED)
    config, task = read_resolved(paths.RESOLVED).train, tasks.load(card.task)
    net = net.to(memory_format=torch.channels_last) if config.channels_last else net
    batches = partial(task.train_batches, train, schema=card.schema, config=config, seed=card.seed)
    workload = Workload(
        net=net.train(),
        optimizer=make_optimizer(config.optimizer, net=net),
        loss=partial(task.loss, config=config),
        batches=lambda epoch: batches(epoch=epoch),
        clip_norm=config.clip_norm,
    )
    with isolated(seed=card.seed, threads=config.threads or torch.get_num_threads()):
        timing = time_parts(workload, warmup=params.profile.wait + params.profile.warmup, steps=params.profile.active)
        recording = record(params.profile, workload=workload, trace=paths.PROFILE / "trace.json.gz")
    evidence = Evidence(
        stage="profile",
        weights=files.digest_file(paths.WEIGHTS),
        split=train.name,
        split_digest=train.digest,
        params=params.profile.digest(),
    )
    report = asdict(timing) | {
        "top_operators": [asdict(operator) for operator in recording.operators],
        "memory": {"peak_mib": peak_memory_mib()},
        "trace": {"steps": recording.steps, "bytes": recording.trace_bytes},
        "evidence": evidence.as_json(),
    }
    files.write_json(paths.PROFILE / "profile.json", report)
    print(f"{timing.step_ms:.2f} ms a step, most of it for: {timing.bottleneck}")
