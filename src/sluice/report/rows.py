"""What the page and the summary say in words and rows."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sluice.io import paths
from sluice.report.evidence import PROFILE_REPORT, Found, entries, section
from sluice.report.wording import plain

__all__ = [
    "EngineRow",
    "Link",
    "ValueRow",
    "checks",
    "engine_rows",
    "links",
    "next_steps",
    "registration",
    "tuning_story",
    "value_rows",
    "verdict_word",
]

Json = Mapping[str, Any]

_ORDER = {"REJECT": 0, "HOLD": 1, "noted": 2, "pass": 3}


@dataclass(frozen=True, kw_only=True)
class EngineRow:
    """One engine's evidence; a part is empty where the stage that makes it has not run."""

    name: str
    parity: Json
    scored: Json
    single: Json
    offline: Json
    against_champion: Json


@dataclass(frozen=True, kw_only=True)
class ValueRow:
    key: str
    value: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Link:
    text: str
    href: str


def verdict_word(found: Found) -> Literal["PROMOTE", "HOLD", "REJECT", "NONE"]:
    word = section(found.verdict).get("verdict")
    return word if word in ("PROMOTE", "HOLD", "REJECT") else "NONE"


def checks(found: Found) -> list[Json]:
    """Those that decide come first."""
    return sorted(entries(found.verdict, "checks"), key=lambda check: _ORDER.get(str(check.get("counts_as")), 0))


def engine_rows(found: Found) -> list[EngineRow]:
    """The eager model first, then the engines as params.yaml lists them."""
    names = ["eager", *found.engines] if found.metrics else []
    return [
        EngineRow(
            name=name,
            parity=found.parity.get(name, {}),
            scored=_scored(found, name),
            single=_cell(found, name, "single_stream"),
            offline=_cell(found, name, "offline"),
            against_champion=section(found.comparison, "latency", name),
        )
        for name in names
    ]


def value_rows(found: Found) -> list[ValueRow]:
    """Every effective parameter of model and training, and the file it came from."""
    resolved = found.resolved or {}
    sources = section(resolved, "sources")
    flat = _flat({key: value for key, value in resolved.items() if key != "sources"})
    return [ValueRow(key=key, value=plain(value), source=sources.get(key, "params.yaml")) for key, value in flat]


def tuning_story(found: Found) -> str:
    """One sentence: was there a search, what did it find, was it used."""
    values = section(found.tuning, "values")
    if found.tuning is None:
        return "Tuning has not run."
    if not values:
        return "No search was made (tune.trials: 0): every value is from params.yaml or its default."
    listed = ", ".join(f"{key} = {plain(value)}" for key, value in values.items())
    sources = section(found.resolved, "sources")
    used = any(source == "tune" for source in sources.values())
    if used:
        return f"Tuned, and used for training: {listed}."
    return f"The search found {listed}, but training did not use it (train.use_tuned: false)."


def registration(found: Found) -> str:
    registered = found.registered
    if registered is None:
        return "Not registered yet."
    version = registered.get("version")
    if version is None:
        return f"No version in the registry: the verdict is {registered.get('verdict')}."
    champion = section(found.registry, "champion")
    aliases = ["candidate"] * (registered.get("verdict") == "PROMOTE") + ["champion"] * (
        champion.get("version") == version
    )
    return f"{registered.get('name')} version {version}, alias {', '.join(aliases) or 'none'}"


def next_steps(found: Found) -> list[tuple[str, str]]:
    """(command or file, why), the most useful first."""
    steps = [("make ui", "runs, curves and versions in MLflow")]
    version = section(found.registered).get("version")
    champion = section(found.registry, "champion")
    if found.stale:
        return [("dvc repro", f"these were made from other weights: {', '.join(found.stale)}"), *steps]
    word = verdict_word(found)
    if word == "NONE":
        return [("dvc repro", "makes what is absent, up to the verdict"), *steps]
    if word == "PROMOTE" and version is not None and champion.get("version") != version:
        return [(f"sluice promote {version}", f"makes version {version} the champion"), *steps]
    if word == "HOLD" and version is not None:
        command = f"sluice promote {version} --force --reason '...'"
        return [(command, "only if you can answer for what the held checks say"), *steps]
    if word == "REJECT":
        return [("sluice gate --check", "says again what is wrong; each reason names its remedy"), *steps]
    return steps


def links(*, page: Path = paths.REPORT) -> list[Link]:
    """The files beside the page that exist, relative to it."""
    siblings = {
        "verdict": paths.VERDICT,
        "metrics": paths.METRICS,
        "per class (CSV)": paths.PER_CLASS,
        "confusion (CSV)": paths.CONFUSION,
        "benchmark": paths.BENCHMARK,
        "comparison": paths.COMPARISON,
        "curves (CSV)": paths.CURVES,
        "trials (CSV)": paths.TRIALS,
        "validation docs": paths.DATA_DOCS / "index.html",
        "validation summary": paths.VALIDATION_SUMMARY,
        "drift": paths.DRIFT,
        "step profile": PROFILE_REPORT,
        "step trace": paths.PROFILE / "trace.json.gz",
        "environment": paths.ENVIRONMENT,
        "model card": paths.MODEL_CARD,
        "effective parameters": paths.RESOLVED,
    }
    return [
        Link(text=text, href=Path(os.path.relpath(path, page.parent)).as_posix())
        for text, path in siblings.items()
        if path.exists()
    ]


def _scored(found: Found, name: str) -> Json:
    if name == "eager":
        return {"status": "ok", "accuracy": section(found.metrics, "accuracy")}
    return section(found.metrics, "engines", name)


def _cell(found: Found, name: str, scenario: str) -> Json:
    cells = entries(found.benchmark, "cells")
    return next((cell for cell in cells if cell.get("engine") == name and cell.get("scenario") == scenario), {})


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _flat(item, f"{prefix}.{key}" if prefix else str(key))
    else:
        yield prefix, value
