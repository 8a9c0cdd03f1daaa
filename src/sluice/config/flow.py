"""How the stages are run by Prefect; `dvc repro` takes no notice."""

from pydantic import Field

from sluice.config.section import Section

__all__ = ["FlowConfig"]


class FlowConfig(Section):
    max_parallel: int = Field(default=2, ge=1, le=64)
    """Stages that run at the same time; one that measures always runs alone."""
