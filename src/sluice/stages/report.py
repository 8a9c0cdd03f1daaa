"""One self-contained HTML page of everything that the run found."""

from sluice.config import Params
from sluice.data.store import open_split
from sluice.errors import MissingArtifact
from sluice.io import files, paths
from sluice.report.evidence import Found, collect, entries
from sluice.report.page import render
from sluice.report.thumbnails import data_uri

__all__ = ["run"]


def run(params: Params) -> None:
    found = collect()
    thumbnails = _thumbnails(found) if params.report.images else {}
    files.write_text(paths.REPORT, render(found, title=params.registry.name, thumbnails=thumbnails))
    print(f"{paths.REPORT} is written")


def _thumbnails(found: Found) -> dict[str, str]:
    """Of the worst samples, by name; none where the gate split is not there."""
    worst = {item.get("sample") for item in entries(found.metrics, "worst_samples")}
    try:
        split = open_split(paths.split_folder("gate"))
    except MissingArtifact:
        return {}
    rows = {sample: row for row, sample in enumerate(split.samples) if sample in worst}
    return {sample: data_uri(split.images[row]) for sample, row in rows.items()}
