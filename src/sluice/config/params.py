"""params.yaml as one frozen object; everything that is wrong with it is said at once."""

import json
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError, field_validator, model_validator
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from sluice.config import learning, release
from sluice.config.data import DataConfig, DriftConfig, PrepareConfig, ValidateConfig
from sluice.config.flow import FlowConfig
from sluice.config.plugins import TASKS
from sluice.config.section import Section
from sluice.errors import ConfigError
from sluice.io import paths

__all__ = ["Params", "json_schema", "load", "parse"]


class Params(Section):
    """One section per stage, named after it, beside the few that several stages share.

    All sections must be there, since DVC wants to find what `dvc.yaml` names; most keys in them have a default.
    """

    seed: int = Field(ge=0, lt=2**31)
    task: str
    data: DataConfig
    validate_: ValidateConfig = Field(alias="validate")
    drift: DriftConfig
    prepare: PrepareConfig
    tune: learning.TuneConfig
    model: learning.ModelConfig
    train: learning.TrainConfig
    profile: learning.ProfileConfig
    capture: release.CaptureConfig
    export: release.ExportConfig
    evaluate: release.EvaluateConfig
    benchmark: release.BenchmarkConfig
    compare: release.CompareConfig
    gate: release.GateConfig
    registry: release.RegistryConfig
    tracking: release.TrackingConfig
    report: release.ReportConfig
    flow: FlowConfig = Field(default_factory=FlowConfig)

    @field_validator("task")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in TASKS:
            raise ValueError(f"expected one of {', '.join(map(repr, TASKS))}")
        return value

    @model_validator(mode="after")
    def _required_are_exported(self) -> Self:
        missing = [name for name in self.gate.required if name not in self.export.engines]
        if missing:
            raise ValueError(f"gate.required names {', '.join(map(repr, missing))}, which export.engines does not make")
        return self


def load(path: Path = paths.PARAMS) -> Params:
    """Raises ConfigError with every problem: key, value, what is allowed."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path} does not exist. Take a preset: sluice preset demo") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 ({error.reason} at byte {error.start}). Save it as UTF-8.") from None
    return parse(text, name=str(path))


def parse(text: str, *, name: str) -> Params:
    """Read YAML 1.2 as DVC does: `1e-3` is a number, `no` is text."""
    try:
        values = YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise ConfigError(f"{name} is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{name} holds no keys. Take a preset: sluice preset demo")
    try:
        return Params.model_validate_json(json.dumps(values, default=str))
    except TypeError:
        raise ConfigError(f"{name} has a list or a mapping as a key. Keys are plain words.") from None
    except ValidationError as error:
        raise ConfigError(_all_problems(error, name)) from None


def json_schema() -> dict[str, Any]:
    return Params.model_json_schema() | {"title": "Sluice params.yaml"}


def _all_problems(error: ValidationError, name: str) -> str:
    problems = error.errors(include_url=False, include_context=False)
    lines = [f"{name} has {len(problems)} problem{'s' if len(problems) > 1 else ''}:"]
    for problem in problems:
        key = ".".join(str(part) for part in problem["loc"]) or "(whole file)"
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            message = _unknown_key(problem["loc"])
        value = problem["input"]
        shown = "" if isinstance(value, dict) or message.startswith("got ") else f" (got {value!r})"
        lines.append(f"  {key}: {message}{shown}")
    return "\n".join(lines)


def _unknown_key(at: Sequence[int | str]) -> str:
    section: Any = Params
    for part in at[:-1]:
        section = _keys(section).get(str(part))
    known = _keys(section)
    nearest = get_close_matches(str(at[-1]), known, n=1)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
    return f"there is no such key. There are: {', '.join(known)}{hint}" if known else "there is no such key"


def _keys(section: Any) -> dict[str, Any]:
    """Key -> type of a section; nothing where `section` is none."""
    fields = section.model_fields if isinstance(section, type) and issubclass(section, Section) else {}
    return {field.alias or name: field.annotation for name, field in fields.items()}
