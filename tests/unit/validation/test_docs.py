import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from sluice.config.data import ValidateConfig
from sluice.validation.docs import write_docs
from sluice.validation.judge import judge

MakeIndex = Callable[..., pd.DataFrame]


def test_docs_read_offline(make_index: MakeIndex, tmp_path: Path) -> None:
    """H5: no page asks for anything from elsewhere, by link, script, image or style, and no local link is dead."""
    index = make_index()
    index.loc[4, "width"] = 0
    write_docs(judge(index, quarantined={}, config=ValidateConfig()), tmp_path / "docs")
    pages = {page.name: page.read_text(encoding="utf-8") for page in (tmp_path / "docs").iterdir()}
    assert set(pages) == {"index.html", "data_set.html", "classes.html", "samples.html"}
    for text in pages.values():
        assert not re.search(r"https?:|<script|<link|<img|url\(", text)
        assert "default-src 'none'" in text
        assert set(re.findall(r'href="([^"#]+)', text)) <= set(pages)


def test_docs_show_rules_and_findings(make_index: MakeIndex, tmp_path: Path) -> None:
    """The first page has each finding with its severity, the others each rule with its limits."""
    index = make_index()
    index.loc[4, ["label", "std"]] = ["<b>fox</b>", 0.0]
    write_docs(judge(index, quarantined={}, config=ValidateConfig()), tmp_path / "docs")
    first = (tmp_path / "docs/index.html").read_text(encoding="utf-8")
    assert "3 findings, 1 of them block" in first
    assert "&lt;b&gt;fox&lt;/b&gt; (1)" in first
    assert "samples (block), min_value 1" in (tmp_path / "docs/data_set.html").read_text(encoding="utf-8")
    assert "samples_per_class (block), min_value 2" in (tmp_path / "docs/classes.html").read_text(encoding="utf-8")
    assert "blank (warn), min_value 0.0" in (tmp_path / "docs/samples.html").read_text(encoding="utf-8")


def test_docs_replace_older_ones(make_index: MakeIndex, tmp_path: Path) -> None:
    """Docs of an older run do not stay behind."""
    old = tmp_path / "docs/old.html"
    old.parent.mkdir()
    old.write_text("old")
    write_docs(judge(make_index(), quarantined={}, config=ValidateConfig()), tmp_path / "docs")
    assert not old.exists()
    assert "Every rule holds." in (tmp_path / "docs/index.html").read_text(encoding="utf-8")
