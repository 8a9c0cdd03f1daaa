"""One HTML page of everything: no script, no network, no other file."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jinja2 import ChainableUndefined, Environment, PackageLoader
from markupsafe import Markup

from sluice.report import figures, rows, wording
from sluice.report.evidence import Confusion, Found, entries, section

__all__ = ["render"]

_LARGEST_TABLE = 30


@dataclass(frozen=True, kw_only=True)
class _Cell:
    count: int
    share: float
    """Of the samples that actually are of the row's class."""
    right: bool


def render(found: Found, *, title: str, thumbnails: Mapping[str, str]) -> str:
    """`thumbnails` gives data URIs by sample; a sample without one is listed by name."""
    environment = Environment(
        loader=PackageLoader("sluice.report", "."),
        autoescape=True,
        undefined=ChainableUndefined,  # a report of another version lacks a key: an empty cell, not a crash
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "bounds": wording.bounds,
        "difference": wording.difference,
        "milliseconds": wording.milliseconds,
        "percent": wording.percent,
        "plain": wording.plain,
        "ratio": wording.ratio,
        "short": wording.short,
    }
    environment.globals |= {"entries": entries, "section": section}
    return environment.get_template("page.html.j2").render(
        title=title,
        found=found,
        verdict=rows.verdict_word(found),
        checks=rows.checks(found),
        engines=rows.engine_rows(found),
        values=rows.value_rows(found),
        tuning=rows.tuning_story(found),
        registration=rows.registration(found),
        steps=rows.next_steps(found),
        links=rows.links(),
        thumbnails=thumbnails,
        confusion=_confusion(found.confusion),
        drawings=_drawings(found),
    )


def _drawings(found: Found) -> dict[str, Markup]:
    """They are safe to show unescaped: the only words in them are ours and the names of engines from our table."""
    drawn: dict[str, str] = {}
    if found.curves:
        drawn["curves"] = figures.curves(found.curves, best_epoch=_best_epoch(found))
    if found.logits_NK is not None and found.labels_N is not None and np.isfinite(found.logits_NK).all():
        drawn["reliability"] = figures.reliability(found.logits_NK, found.labels_N)
    cells = [row.single for row in rows.engine_rows(found) if row.single.get("median_ms")]
    if cells:
        drawn["latency"] = figures.latency(cells)
    if found.confusion is not None and len(found.confusion.predicted) > _LARGEST_TABLE:
        shares = [[cell.share for cell in row] for row in _shares(found.confusion)]
        drawn["confusion"] = figures.confusion_image(np.asarray(shares))
    return {name: Markup(svg) for name, svg in drawn.items()}  # noqa: S704 - see the docstring


def _best_epoch(found: Found) -> int | None:
    best = section(found.training).get("best_epoch")
    return best if isinstance(best, int) else None


def _confusion(confusion: Confusion | None) -> list[tuple[str, list[_Cell]]]:
    if confusion is None or len(confusion.predicted) > _LARGEST_TABLE:
        return []
    return list(zip(confusion.actual, _shares(confusion), strict=True))


def _shares(confusion: Confusion) -> list[list[_Cell]]:
    table = []
    for actual in confusion.actual:
        counts = [confusion.counts.get((actual, predicted), 0) for predicted in confusion.predicted]
        total = sum(counts) or 1
        table.append(
            [
                _Cell(count=count, share=count / total, right=actual == predicted)
                for predicted, count in zip(confusion.predicted, counts, strict=True)
            ]
        )
    return table
