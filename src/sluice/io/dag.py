"""The stages and their order, read from DVC: `dvc.yaml` is the only place that defines them."""

from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

from dvc.repo import Repo
from dvc.stage import PipelineStage

from sluice.io import paths
from sluice.io.dvc_tool import read_stages

__all__ = ["Stage", "read_dag"]


@dataclass(frozen=True, kw_only=True)
class Stage:
    """`name` as DVC addresses it, `export@onnxruntime-fp32`; `after` are the names of the stages it waits for."""

    name: str
    after: frozenset[str]
    exclusive: bool
    """Measures, and wants the machine for itself."""


def read_dag(root: Path) -> tuple[Stage, ...]:
    """All stages, each after those it waits for."""
    with Repo(str(root)) as repo:
        graph = repo.index.graph
        stages = [stage for stage in repo.index.stages if isinstance(stage, PipelineStage)]
        needs = {
            stage.addressing: {
                other.addressing for other in graph.successors(stage) if isinstance(other, PipelineStage)
            }
            for stage in stages
        }
    entries = read_stages(root / paths.DAG)  # `meta` is what DVC hands to nobody
    exclusive = {name for name, entry in entries.items() if (entry.get("meta") or {}).get("exclusive")}
    return tuple(
        Stage(name=name, after=frozenset(needs[name]), exclusive=name.partition("@")[0] in exclusive)
        for name in TopologicalSorter(needs).static_order()
    )
