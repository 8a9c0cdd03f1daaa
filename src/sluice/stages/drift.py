"""Compare the data with those of the champion; warn, and never block the training that would be the answer."""

import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sluice.config import Params
from sluice.errors import SluiceError
from sluice.io import files, paths

if TYPE_CHECKING:
    from sluice.validation.profile import Profile

__all__ = ["run"]


def run(params: Params) -> None:
    champion = files.read_json(paths.REGISTRY)["champion"]
    report = _report(params, champion)
    files.write_json(paths.DRIFT, report | {"champion": champion and {"version": champion["version"]}})
    print(report["message"])


def _report(params: Params, champion: Mapping[str, Any] | None) -> dict[str, Any]:
    if champion is None:
        return _nothing("no_champion", "There is no champion yet, so there is nothing to compare the data with.")
    if champion["profile"] == files.digest_file(paths.PROFILE_OF_DATA):
        return _nothing("same_data", f"The data are those of the champion, version {champion['version']}.")
    # Imported here: mostly there is nothing to compare with, and it takes seconds.
    from sluice.validation.drift import drift
    from sluice.validation.profile import read_profile

    current = read_profile(paths.PROFILE_OF_DATA)
    try:
        past = _champions_profile(params, champion["run_id"])
    except SluiceError as error:
        return _nothing("unavailable", f"warning: the data profile of the champion cannot be had: {error}")
    found = drift(current, past, psi_warning=params.drift.psi_warning, p_value=params.drift.p_value)
    values = asdict(found)
    if not found.drifted:
        return {
            "status": "ok",
            **values,
            "message": f"The data look like those of the champion, version {champion['version']}.",
        }
    moved = ", ".join(found.drifted)
    message = f"warning: the data have moved away from those of the champion, version {champion['version']}: {moved}"
    return {"status": "drift", **values, "message": message}


def _champions_profile(params: Params, run_id: str) -> "Profile":
    from sluice.tracking.registry import download
    from sluice.tracking.store import open_store
    from sluice.validation.profile import read_profile

    with tempfile.TemporaryDirectory() as folder:
        store = open_store(params.tracking)
        return read_profile(download(store, run_id=run_id, artifact="data/profile.json", to=Path(folder)))


def _nothing(status: str, message: str) -> dict[str, Any]:
    return {"status": status, "features": [], "labels": None, "message": message}
