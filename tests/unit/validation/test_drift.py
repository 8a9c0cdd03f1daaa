from collections.abc import Callable
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from sluice.validation.drift import Drift, drift
from sluice.validation.profile import profile_of

MakeIndex = Callable[..., pd.DataFrame]


def compared(now: pd.DataFrame, then: pd.DataFrame) -> Drift:
    return drift(profile_of(now), profile_of(then), psi_warning=0.2, p_value=0.01)


def test_equal_data_have_not_drifted(make_index: MakeIndex) -> None:
    """The same rows give PSI 0 and p values of 1."""
    found = compared(make_index(3000), make_index(3000))
    assert found.drifted == ()
    assert {feature.name for feature in found.features} == {"mean", "std", "width", "height"}
    assert all(feature.p_adjusted == pytest.approx(1.0) for feature in found.features)
    assert all(feature.psi == pytest.approx(0.0, abs=0.01) for feature in found.features)
    assert found.labels.psi == pytest.approx(0.0)


def test_brighter_images_have_drifted(make_index: MakeIndex) -> None:
    """A shift of one feature is found by both measures, and only in that feature."""
    now = make_index(3000)
    now["mean"] += 60
    found = compared(now, make_index(3000))
    assert found.drifted == ("mean",)
    mean = next(feature for feature in found.features if feature.name == "mean")
    assert mean.psi > 0.2
    assert mean.p_value <= mean.p_adjusted < 0.01


def test_values_outside_the_champions_range_count(make_index: MakeIndex) -> None:
    """A constant feature that becomes another constant has drifted; no bin of the champion holds it."""
    now = make_index(300)
    now["width"] = 32
    found = compared(now, make_index(300))
    assert found.drifted == ("width",)
    width = next(feature for feature in found.features if feature.name == "width")
    assert np.isfinite(width.psi)
    assert width.psi > 1


@pytest.mark.parametrize("rows", [20, 60, 300])
def test_small_sets_raise_no_false_alarm(make_index: MakeIndex, rows: int) -> None:
    """Two samples of one distribution seldom drift, however small: the PSI's own noise is allowed for."""
    alarms = 0
    for seed in range(30):
        random = np.random.default_rng(seed)
        now, then = make_index(rows), make_index(rows)
        now["mean"], then["mean"] = random.normal(100, 20, rows), random.normal(100, 20, rows)
        alarms += "mean" in compared(now, then).drifted
    assert alarms <= 2


def test_label_shares_can_drift(make_index: MakeIndex) -> None:
    """Other shares of the classes are drift of the labels."""
    found = compared(make_index(1000, classes=("cat", "cat", "cat", "cat", "dog", "eel")), make_index(1002))
    assert found.drifted == ("labels",)
    assert found.labels.p_value < 0.01


@pytest.mark.parametrize(
    ("now", "then", "new", "gone"),
    [
        (("cat", "dog", "eel", "fox"), ("cat", "dog", "eel"), ("fox",), ()),
        (("cat", "dog"), ("cat", "dog", "eel"), (), ("eel",)),
    ],
)
def test_new_and_lost_classes_are_named(
    make_index: MakeIndex, now: tuple[str, ...], then: tuple[str, ...], new: tuple[str, ...], gone: tuple[str, ...]
) -> None:
    """A class that one side lacks is drift, by name, and no division by zero."""
    found = compared(make_index(600, classes=now), make_index(600, classes=then))
    assert (found.labels.new, found.labels.gone) == (new, gone)
    assert found.labels.drifted
    assert np.isfinite(found.labels.psi)


def test_features_of_other_versions_are_left_out(make_index: MakeIndex) -> None:
    """Only what both profiles hold is compared."""
    profile = profile_of(make_index())
    older = profile.model_copy(update={"features": {"mean": profile.features["mean"]}})
    found = drift(profile, older, psi_warning=0.2, p_value=0.01)
    assert [feature.name for feature in found.features] == ["mean"]
    assert asdict(found)["features"][0]["drifted"] is False
