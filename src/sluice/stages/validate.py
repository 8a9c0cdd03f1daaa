"""Decode every sample, judge the whole, and index what is accepted."""

from sluice.config import Params
from sluice.data.scan import scan
from sluice.io import files, paths
from sluice.io.evidence import Evidence
from sluice.validation.docs import write_docs
from sluice.validation.index_file import write_index
from sluice.validation.judge import judge
from sluice.validation.profile import profile_of
from sluice.validation.summary import refuse_blocked, summarise

__all__ = ["run"]


def run(params: Params) -> None:
    """Raises DataError for findings that block; the summary and the data docs are written all the same."""
    for made in (paths.INDEX, paths.PROFILE_OF_DATA, paths.VALIDATION_SUMMARY):
        made.unlink(missing_ok=True)
    scanned = scan(paths.RAW, config=params.data, max_pixels=params.validate_.max_pixels)
    quarantined = {item.path: item.reason for item in scanned.quarantined}
    judgement = judge(scanned.index, quarantined=quarantined, config=params.validate_)
    summary = summarise(
        scanned.index, quarantined=quarantined, ignored=scanned.ignored, turned=scanned.turned, judgement=judgement
    )
    evidence = Evidence(stage="validate", weights=None, params=params.validate_.digest(), environment=None)
    files.write_json(paths.VALIDATION_SUMMARY, summary.as_json() | {"evidence": evidence.as_json()})
    write_docs(judgement, paths.DATA_DOCS)
    print("\n".join(summary.lines()))
    refuse_blocked(judgement)
    files.write_json(paths.PROFILE_OF_DATA, profile_of(scanned.index).model_dump(mode="json"))
    write_index(paths.INDEX, scanned.index)
