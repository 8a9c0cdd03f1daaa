"""The model and train sections as they are run: params.yaml, overlaid by what tune found, with every `auto` decided."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from sluice.config.learning import ModelConfig, TrainConfig
from sluice.config.section import Section
from sluice.errors import ConfigError, MissingArtifact
from sluice.io import files

__all__ = ["Resolved", "overlay", "read_resolved", "read_tuned", "resolve_once"]

AnySection = TypeVar("AnySection", bound=Section)


@dataclass(frozen=True, kw_only=True)
class Resolved:
    model: ModelConfig
    train: TrainConfig
    sources: Mapping[str, str]
    """Key, such as `train.optimizer.lr`: "params.yaml", "default", "tune", or "machine"."""

    def as_dict(self, *, seed: int) -> dict[str, Any]:
        return {
            "seed": seed,
            "model": self.model.model_dump(mode="json"),
            "train": self.train.model_dump(mode="json"),
            "sources": dict(self.sources),
        }


def overlay(values: Mapping[str, Any], *, model: ModelConfig, train: TrainConfig) -> Resolved:
    """Put `values`, by keys such as `train.optimizer.lr`, over the sections. Raises ConfigError with all misfits."""
    sections: dict[str, Any] = {"model": model.model_dump(mode="json"), "train": train.model_dump(mode="json")}
    for key, value in values.items():
        *parents, last = key.split(".")
        place: Any = sections
        for part in parents:
            place = place.get(part) if isinstance(place, dict) else None
        if not isinstance(place, dict):
            raise ConfigError(f"tune.space: {key}: there is no such key in params.yaml. Take it out of tune.space.")
        place[last] = value
    problems: list[str] = []
    checked_model = _check(ModelConfig, sections["model"], prefix="model", problems=problems)
    checked_train = _check(TrainConfig, sections["train"], prefix="train", problems=problems)
    if checked_model is None or checked_train is None:
        raise ConfigError(f"tune.space gives values that do not fit: {'; '.join(problems)}. Correct tune.space.")
    given = {
        "seed",
        *_leaves({key: each.model_dump(exclude_unset=True) for key, each in (("model", model), ("train", train))}),
    }
    sources = {key: "params.yaml" if key in given else "default" for key in ("seed", *_leaves(sections))}
    sources |= dict.fromkeys(values, "tune")
    return Resolved(model=checked_model, train=checked_train, sources=sources)


def read_tuned(path: Path, *, space: Collection[str]) -> dict[str, Any]:
    """The values that tune found, for exactly the keys of `space`."""
    values: dict[str, Any] = _read_yaml(path, remedy="dvc repro -f -s tune").get("values") or {}
    if values.keys() != set(space):
        raise ConfigError(
            f"train.use_tuned: {path} has {', '.join(values) or 'no value'}, tune.space asks for "
            f"{', '.join(space) or 'none'}. Set tune.trials above 0, or train.use_tuned: false, and run: dvc repro"
        )
    return values


def resolve_once(path: Path, resolved: Resolved, *, seed: int) -> Resolved:
    """What `path` holds; if it is not there, `resolved` is written to it with every `auto` decided on this machine."""
    if not path.exists():
        yaml = YAML()
        yaml.default_flow_style = False
        with files.atomic_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
            yaml.dump(_with_threads(resolved).as_dict(seed=seed), file)
    return read_resolved(path)


def read_resolved(path: Path) -> Resolved:
    values = _read_yaml(path, remedy="dvc repro -f -s train")
    try:
        return Resolved(
            model=ModelConfig.model_validate_json(json.dumps(values["model"])),
            train=TrainConfig.model_validate_json(json.dumps(values["train"])),
            sources=values["sources"],
        )
    except (KeyError, ValidationError) as error:
        reason = " ".join(str(error).split())
        raise MissingArtifact(f"{path} does not fit this Sluice ({reason}). Run: dvc repro -f -s train") from None


def _with_threads(resolved: Resolved) -> Resolved:
    if resolved.train.threads:
        return resolved
    train = resolved.train.model_copy(update={"threads": torch.get_num_threads()})
    return replace(resolved, train=train, sources={**resolved.sources, "train.threads": "machine"})


def _check(section: type[AnySection], values: dict[str, Any], *, prefix: str, problems: list[str]) -> AnySection | None:
    try:
        return section.model_validate_json(json.dumps(values))
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_context=False):
            key = ".".join((prefix, *map(str, problem["loc"])))
            problems.append(f"{key}: {problem['msg'].removeprefix('Value error, ')} (got {problem['input']!r})")
        return None


def _leaves(values: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def _read_yaml(path: Path, *, remedy: str) -> dict[str, Any]:
    try:
        values = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MissingArtifact(f"{path} does not exist. Make it with: {remedy}") from None
    except (UnicodeDecodeError, YAMLError) as error:
        raise MissingArtifact(f"{path} is not valid YAML ({' '.join(str(error).split())}). Run: {remedy}") from None
    if not isinstance(values, dict):
        raise MissingArtifact(f"{path} holds no keys. Run: {remedy}")
    return values
