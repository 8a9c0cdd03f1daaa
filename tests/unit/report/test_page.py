import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from unit.report import reports

from sluice.io import files, paths
from sluice.report.evidence import collect
from sluice.report.page import render

VOID = {"meta", "img", "br"}
NASTY = '{"accuracy": 3, "champion": 3, "cells": [3], "engines": 3, "checks": 3, "shares": 3, "features": 3}'
DRAWN = (paths.OUTPUTS, paths.CURVES, paths.BENCHMARK)


class Balanced(HTMLParser):
    """Collects tags that are not closed, and everything that a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.fetched: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        given = dict(attrs)
        self.ids += [str(given["id"])] if "id" in given else []
        if tag in {"script", "link", "iframe", "object"}:
            self.fetched.append(tag)
        self.fetched += [str(given[name]) for name in ("src", "xlink:href") if name in given]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def page(**thumbnails: str) -> str:
    return render(collect(), title="clothes", thumbnails=thumbnails)


def parsed(html: str) -> Balanced:
    parser = Balanced()
    parser.feed(html)
    return parser


def test_shows_what_every_report_says(workspace: Path) -> None:
    """Verdict, checks, accuracy, engines, champion, drift, findings, profile, parameters, environment, links."""
    reports.write_all()
    html = page()

    for text in (
        '<div class="word">PROMOTE</div>',
        "floor:accuracy",
        "90.00 to 92.00",
        "0.18 ms",
        "onnxruntime-fp32",
        "SQNR 44 dB, limit 100 dB",
        "the interval straddles 1.05",
        "mean moved away",
        "imbalance",
        "aten::convolution_backward",
        "train.optimizer.lr = 0.31",
        "3.11.7",
        'href="evaluation/metrics.json"',
        'href="../models/trained/resolved.yaml"',
        "clothes version 4, alias candidate",
    ):
        assert text in html
    assert html.count("<svg") == 3


def test_is_well_formed_and_stands_alone(workspace: Path) -> None:
    """No script, no network, no other file; every tag is closed and no id stands twice."""
    reports.write_all()
    found = parsed(page(**{reports.WORST: "data:image/png;base64,AAAA"}))

    assert (found.open, found.wrong) == ([], [])
    assert all(item.startswith(("data:", "#")) for item in found.fetched)
    assert len(found.ids) == len(set(found.ids))


def test_words_of_the_user_are_never_markup(workspace: Path) -> None:
    """A class named <script> is text wherever it stands, and a title is too."""
    reports.write_all()
    html = render(collect(), title="<img src=x onerror=1>", thumbnails={})

    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<img src=x" not in html
    assert "<b>cut</b>" not in html


@pytest.mark.parametrize("verdict", ["PROMOTE", "HOLD", "REJECT"])
def test_the_verdict_has_its_colour_and_names_its_checks(workspace: Path, verdict: str) -> None:
    """What decides stands in the banner and at the head of the table."""
    reports.write_all(verdict=verdict)
    html = page()

    assert f'class="banner {verdict}"' in html
    assert ("1 of 2 checks stand against it: floor:accuracy" in html) == (verdict != "PROMOTE")
    if verdict != "PROMOTE":
        assert html.index('<td class="nowrap">floor:accuracy') < html.index('<td class="nowrap">evidence_complete')


def test_an_empty_workspace_is_a_page_too(workspace: Path) -> None:
    """Every section says what is absent and how to make it."""
    html = page()

    assert "No verdict" in html
    assert html.count('class="absent"') >= 10
    assert parsed(html).wrong == []


@pytest.mark.parametrize("content", [None, NASTY], ids=["absent", "of another form"])
def test_each_report_may_be_absent_or_of_another_form(workspace: Path, content: str | None) -> None:
    """Drift, profile and every other report may be missing or damaged: the page is made without it."""
    reports.write_all()
    for path in DRAWN:  # the figures take the time
        path.unlink()
    for path in reports.every_report():
        before = path.read_bytes()
        path.unlink()
        if content:
            path.write_text(content)
        assert "</html>" in page(), path
        path.write_bytes(before)


@pytest.mark.parametrize("path", DRAWN, ids=str)
def test_a_figure_without_its_numbers_is_left_out(workspace: Path, path: Path) -> None:
    """Damaged numbers cost their figure, nothing else."""
    reports.write_all()
    path.write_text("[]")

    assert page().count("<svg") == 2


def test_all_reports_may_be_damaged_at_once(workspace: Path) -> None:
    """An empty file or a list in the place of every report is as good as nothing."""
    reports.write_all()
    for path in reports.every_report():
        path.write_text("[]" if path.name.endswith("c.json") else "")

    assert "No verdict" in page()


def test_reports_of_other_weights_are_named(workspace: Path) -> None:
    """A page that mixes two models says so before everything else."""
    reports.write_all()
    files.write_text(paths.WEIGHTS, "others")

    assert re.search(r"made from other weights than those in models/trained: [^.]*metrics", page())


def test_many_classes_get_a_picture_instead_of_a_table(workspace: Path) -> None:
    """A table of a hundred columns cannot be read."""
    reports.write_all(classes=tuple(f"class {number}" for number in range(40)))
    html = page()

    assert 'class="confusion"' not in html
    assert html.count("<svg") == 4
    assert parsed(html).wrong == []


def test_worst_samples_have_their_picture(workspace: Path) -> None:
    """A thumbnail stands beside its sample; one without is listed by name."""
    reports.write_all()
    html = page(**{reports.WORST: "data:image/png;base64,AAAA"})

    assert html.count("<img ") == 1
    assert "a/b.png" in html
    assert "taken for nothing" in html
