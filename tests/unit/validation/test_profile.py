from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sluice.errors import DataError, MissingArtifact
from sluice.io import files
from sluice.validation.profile import profile_of, read_profile

MakeIndex = Callable[..., pd.DataFrame]


def test_profile_describes_the_rows(make_index: MakeIndex) -> None:
    """Every row is in one bin, bins hold about equal counts, the sample is bounded and spans the range."""
    index = make_index(5000)
    profile = profile_of(index)
    assert profile.n == 5000
    assert profile.labels == {"cat": 1667, "dog": 1667, "eel": 1666}
    assert set(profile.features) == {"mean", "std", "width", "height"}
    mean = profile.features["mean"]
    assert len(mean.edges) == len(mean.counts) + 1
    assert sum(mean.counts) == 5000
    assert max(mean.counts) - min(mean.counts) <= 2
    assert len(mean.sample) == 1000
    assert mean.sample[0] == pytest.approx(index["mean"].min(), abs=1e-5)
    assert mean.sample[-1] == pytest.approx(index["mean"].max(), abs=1e-5)


def test_profile_does_not_depend_on_the_order(make_index: MakeIndex) -> None:
    """Equal sets of rows, equal profiles."""
    index = make_index(3000)
    assert profile_of(index) == profile_of(index.sample(frac=1, random_state=1))


def test_few_values_have_a_bin_each(make_index: MakeIndex) -> None:
    """A constant feature has one bin around its value, two values have two."""
    index = make_index()
    index.loc[:9, "height"] = 32
    profile = profile_of(index)
    assert profile.features["width"].edges == (27.5, 28.5)
    assert profile.features["width"].counts == (60,)
    assert profile.features["height"].edges == (27.5, 30.0, 32.5)
    assert profile.features["height"].counts == (50, 10)


def test_profile_of_nothing_is_refused(make_index: MakeIndex) -> None:
    """H1: there is no profile of no rows."""
    with pytest.raises(DataError, match="no accepted sample"):
        profile_of(make_index(0))


def test_profile_reads_back(make_index: MakeIndex, tmp_path: Path) -> None:
    """The JSON form loses nothing."""
    profile = profile_of(make_index(rows=1500))
    files.write_json(tmp_path / "profile.json", profile.model_dump(mode="json"))
    assert read_profile(tmp_path / "profile.json") == profile


NO_PROFILES = [
    "",
    "{}",
    "[1]",
    '{"n": 1, "features": {"mean": 3}, "labels": {"cat": 1}}',
    '{"n": 1, "features": {}, "labels": {}}',
    '{"n": 1, "features": {"mean": {"edges": [1, 1], "counts": [1], "sample": [1]}}, "labels": {"cat": 1}}',
    '{"n": 1, "features": {"mean": {"edges": [1, 2], "counts": [0], "sample": [1]}}, "labels": {"cat": 1}}',
]


@pytest.mark.parametrize("content", [None, *NO_PROFILES])
def test_what_is_no_profile_is_named(tmp_path: Path, content: str | None) -> None:
    """An absent or damaged profile is one sentence with the file's name."""
    path = tmp_path / "profile.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(MissingArtifact, match=r"profile\.json (does not exist|is not a data profile)"):
        read_profile(path)


def test_numbers_of_a_profile_are_finite(make_index: MakeIndex) -> None:
    """Nothing in a profile turns into null."""
    assert all(np.isfinite(feature.sample).all() for feature in profile_of(make_index()).features.values())
