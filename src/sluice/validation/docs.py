"""Great Expectations' data docs as pages that read without a network."""

import re
from html import escape
from pathlib import Path

from great_expectations.core import ExpectationSuiteValidationResult
from great_expectations.render.renderer.page_renderer import ValidationResultsPageRenderer
from great_expectations.render.view.view import DefaultJinjaPageView

from sluice.io import files
from sluice.validation.judge import Judgement

__all__ = ["write_docs"]

_TITLES = {"data_set": "The data set", "classes": "Classes", "samples": "Samples"}
# The templates fetch Bootstrap, jQuery, icons and a logo from many hosts; a page without them needs only _STYLE.
_REMOTE = re.compile(
    r"<link\b[^>]*>|<script\b.*?</script>|<img\b[^>]*>|<footer\b.*?</footer>|url\([^)]*\)"
    r'|<nav class="navbar.*?</nav>\s*</div>\s*</nav>|<title>.*?</title>',
    flags=re.DOTALL,
)
_DEAD_LINK = re.compile(r'<a href="\.\./[^"]*"\s*>(.*?)</a>', flags=re.DOTALL)
# Names of files and classes reach the pages as they are, so nothing in them may run or fetch.
_POLICY = """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">"""
_STYLE = """
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem }
th, td { border: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top }
.sticky { display: none }
.alert { background: #8882; padding: .4rem .8rem; border-radius: .3rem }
.alert h5, h6 { font-size: 1.1rem; margin: 0 }
.badge { background: #8883; padding: .1rem .4rem; border-radius: .3rem; overflow-wrap: anywhere }
.text-success, .pass { color: #188038 } .text-danger, .block { color: #d93025 } .text-warning, .warn { color: #b06000 }
.fa-check-circle::before { content: "\\2714" } .fa-times::before { content: "\\2716" }
.fa-exclamation-triangle::before { content: "\\26A0" }
"""


def write_docs(judgement: Judgement, folder: Path) -> None:
    """Write `index.html` with the findings, and Great Expectations' page for each table."""
    with files.atomic_folder(folder) as temporary:
        for table, result in judgement.results.items():
            (temporary / f"{table}.html").write_text(_page(table, result), encoding="utf-8")
        (temporary / "index.html").write_text(_index(judgement), encoding="utf-8")


def _page(table: str, result: ExpectationSuiteValidationResult) -> str:
    document = ValidationResultsPageRenderer(run_info_at_end=True).render(result)
    html = DefaultJinjaPageView().render(document)  # type: ignore[no-untyped-call]
    html = _DEAD_LINK.sub(r"\1", _REMOTE.sub("", html))
    html = html.replace("<head>", f"<head>{_POLICY}<title>{_TITLES[table]}</title>", 1)
    html = html.replace("</head>", f"<style>{_STYLE}</style></head>", 1)
    return str(html.replace("<body>", '<body><p><a href="index.html">All findings</a></p>', 1))


def _index(judgement: Judgement) -> str:
    rows = "".join(
        f'<tr><td class="{item.severity}">{item.severity}</td><td>{item.rule}</td><td>{escape(item.message)}</td></tr>'
        for item in judgement.findings
    )
    table = f"<table><tr><th>severity</th><th>rule</th><th>finding</th></tr>{rows}</table>"
    judged = sum(len(result.results) for result in judgement.results.values())
    counts = f"{judged} rules, {len(judgement.findings)} findings, {len(judgement.blocking)} of them block."
    links = "".join(f'<li><a href="{name}.html">{_TITLES[name]}</a></li>' for name in judgement.results)
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{_POLICY}'
        f"<title>Data validation</title><style>{_STYLE}</style></head>"
        f"<body><h1>Data validation</h1><p>{counts}</p>{table if rows else '<p class=pass>Every rule holds.</p>'}"
        f"<h2>Rule by rule</h2><ul>{links}</ul></body></html>\n"
    )
