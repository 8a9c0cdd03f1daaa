"""The stages and their order, read from DVC: `dvc.yaml` is the only place that defines them."""

from dataclasses import dataclass
from pathlib import Path

from dvc.repo import Repo
from dvc.stage import PipelineStage
from ruamel.yaml import YAML

from sluice.io import paths

__all__ = ["Stage", "read_dag"]


@dataclass(frozen=True, kw_only=True)
class Stage:
    """`name` as DVC addresses it, `export@onnxruntime-fp32`; `after` are the names of the stages it waits for."""

    name: str
    after: frozenset[str]
    exclusive: bool
    """Measures, and wants the machine for itself."""


def read_dag(root: Path) -> tuple[Stage, ...]:
    """All stages, each after those it waits for; the order is that of `dvc.yaml` where it is free."""
    with Repo(str(root)) as repo:
        graph = repo.index.graph
        stages = [stage for stage in repo.index.stages if isinstance(stage, PipelineStage)]
        needs = {
            stage.addressing: {
                other.addressing for other in graph.successors(stage) if isinstance(other, PipelineStage)
            }
            for stage in stages
        }
    exclusive = _exclusive(root)
    ordered: list[Stage] = []
    while len(ordered) < len(needs):
        done = {stage.name for stage in ordered}
        name = next(name for name, before in needs.items() if name not in done and before <= done)
        ordered.append(Stage(name=name, after=frozenset(needs[name]), exclusive=name.partition("@")[0] in exclusive))
    return tuple(ordered)


def _exclusive(root: Path) -> set[str]:
    """Stages with `meta: {exclusive: true}`, which DVC hands to nobody."""
    stages = YAML(typ="safe", pure=True).load((root / paths.DAG).read_text(encoding="utf-8"))["stages"]
    return {name for name, entry in stages.items() if (entry.get("meta") or {}).get("exclusive")}
