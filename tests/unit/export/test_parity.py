from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import torch
from contracts.small_model import SmallModel, images, predictor_of
from numpy.typing import NDArray

from sluice.export.parity import LIMITS, Verdict, compare, judge
from sluice.export.probes import batches_of

Arrays = Mapping[str, NDArray[Any]]


def _judged(ours: Arrays, engine: Arrays, *, executed: str = "fp32") -> Verdict:
    return judge([ours], [engine], requested="fp32", executed=executed)


@pytest.fixture(scope="module")
def ours() -> Arrays:
    return predictor_of(SmallModel())(images())


def _outputs(logits: NDArray[Any]) -> Arrays:
    tensor = torch.from_numpy(logits.astype(np.float32))
    return {"logits": tensor.numpy(), "probabilities": torch.softmax(tensor, dim=1).numpy()}


def test_equal_outputs_are_perfect(ours: Arrays) -> None:
    """Nothing to complain of, in numbers that JSON can carry."""
    verdict = _judged(ours, ours)
    assert not verdict.reasons
    assert verdict.parity is not None
    assert (verdict.parity.sqnr_db, verdict.parity.max_abs_error, verdict.parity.kl_max) == (300.0, 0.0, 0.0)
    assert verdict.parity.top1_agreement == 1.0


def test_rounding_of_float32_passes(ours: Arrays) -> None:
    """An engine that adds in another order is not refused."""
    noise = np.random.default_rng(0).normal(0, 3e-7, ours["logits"].shape)
    assert not _judged(ours, _outputs(ours["logits"] * (1 + noise))).reasons


def _swap_channels(model: SmallModel) -> None:
    model.stem.weight.copy_(model.stem.weight.flip(1))


def _shift_a_bias(model: SmallModel) -> None:
    model.head.bias[0] += 0.5


def _kill_a_channel(model: SmallModel) -> None:
    model.stem.weight[3] = 0


def _forget_batch_norm(model: SmallModel) -> None:
    model.norm.running_mean.zero_()


@pytest.mark.parametrize("mutate", [_swap_channels, _shift_a_bias, _kill_a_channel, _forget_batch_norm])
def test_mutants_are_refused(ours: Arrays, mutate: Callable[[SmallModel], None]) -> None:
    """RGB for BGR, a shifted bias, a dead channel, lost statistics: all far beyond fp32 on images with structure."""
    mutant = SmallModel()
    with torch.no_grad():
        mutate(mutant)
    reasons = " ".join(_judged(ours, predictor_of(mutant)(images())).reasons)
    assert "SQNR is" in reasons
    assert "the relative error is" in reasons


def test_a_model_left_in_train_mode_is_refused(ours: Arrays) -> None:
    """Dropout and batch statistics at work show as noise (F3, G6)."""
    with torch.inference_mode():
        torch.manual_seed(0)
        logits, _ = SmallModel().train()(torch.from_numpy(images()["images"]))
    assert any("SQNR is" in reason for reason in _judged(ours, _outputs(logits.numpy())).reasons)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("sides", [("engine",), ("ours",), ("ours", "engine")])
def test_values_that_are_not_finite_are_fatal(ours: Arrays, value: float, sides: tuple[str, ...]) -> None:
    """On one side or on both, one value is enough, and no number is made of it."""
    both = {name: {key: array.copy() for key, array in ours.items()} for name in ("ours", "engine")}
    for side in sides:
        both[side]["logits"][5, 1] = value
    verdict = _judged(both["ours"], both["engine"])
    assert verdict.parity is None
    assert len(verdict.reasons) == len(sides)
    assert "logits holds 1 values of the" in verdict.reasons[0]


def test_a_frozen_batch_is_refused(ours: Arrays) -> None:
    """An engine that answers for two whatever it is asked is found by its shapes (G1)."""
    asked = [predictor_of(SmallModel())(batch) for batch in batches_of(images())]
    frozen = [{name: array[:2] for name, array in ours.items()} for _ in asked]
    reasons = judge(asked, frozen, requested="fp32", executed="fp32").reasons
    assert "logits has the shape [2, 3], not [64, 3]" in reasons
    assert "logits has the shape [2, 3], not [1, 3]" in reasons


def test_missing_softmax_is_refused(ours: Arrays) -> None:
    """Right logits do not excuse wrong probabilities."""
    reasons = _judged(ours, {"logits": ours["logits"], "probabilities": ours["logits"]}).reasons
    assert len(reasons) == 1
    assert "the divergence is" in reasons[0]


def test_other_names_are_refused(ours: Arrays) -> None:
    """Outputs are known by name."""
    assert "the outputs are named ['scores'], not" in _judged(ours, {"scores": ours["logits"]}).reasons[0]


def test_hidden_bfloat16_is_refused_by_name(ours: Arrays) -> None:
    """Good enough for bfloat16 is not fp32, whatever the numbers say (G11)."""
    assert _judged(ours, ours, executed="bf16").reasons == ("it executes bf16, not fp32",)


def test_unknown_precision_is_refused(ours: Arrays) -> None:
    """A precision without limits cannot pass."""
    assert _judged(ours, ours, executed="fp8").reasons == ("it executes fp8, not fp32",)


def test_a_model_that_ignores_its_input_shows_nothing(ours: Arrays) -> None:
    """Agreement of constants proves nothing."""
    constant = _outputs(np.tile([[1.0, 2.0, 3.0]], (64, 1)))
    assert "the same for every input" in _judged(constant, constant).reasons[0]


def test_the_worst_batch_counts(ours: Arrays) -> None:
    """Large logits of one batch do not hide an error in another."""
    large = _outputs(ours["logits"] * 1e6)
    off = _outputs(ours["logits"] + 1e-3)
    alone = judge([ours], [off], requested="fp32", executed="fp32")
    beside = judge([ours, large], [off, large], requested="fp32", executed="fp32")
    assert beside.parity == alone.parity
    assert beside.reasons == alone.reasons != ()


def test_numbers_are_those_of_the_definition() -> None:
    """SQNR of an error of a hundredth is 40 dB, and one of two rows disagrees."""
    ours = _outputs(np.array([[1.0, 0.0], [0.0, 1.0]]))
    engine = _outputs(np.array([[1.01, 0.0], [0.0, 1.01]]))
    found = compare(ours, engine)
    assert found.sqnr_db == pytest.approx(40, abs=1e-3)
    assert found.relative_max == pytest.approx(0.01, abs=1e-6)
    swapped = compare(ours, _outputs(np.array([[0.0, 1.0], [0.0, 1.0]])))
    assert swapped.top1_agreement == 0.5
    assert swapped.kl_max == pytest.approx(0.4621, abs=1e-4)


def test_limits_exist_for_every_precision_and_only_loosen() -> None:
    """The table is the one of the design, from strict to loose."""
    assert list(LIMITS) == ["fp32", "bf16", "fp16", "int8"]
    assert LIMITS["fp32"].sqnr_db > LIMITS["fp16"].sqnr_db > LIMITS["bf16"].sqnr_db > LIMITS["int8"].sqnr_db
    assert LIMITS["int8"].relative_max is None
