"""Checks of the options that come from params.yaml."""

from collections.abc import Sequence

from sluice.errors import ConfigError

__all__ = ["positive_whole_number", "positive_whole_numbers"]


def positive_whole_number(option: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"model.options.{option}: expected a whole number of at least 1, got {value!r}")
    return value


def positive_whole_numbers(option: str, values: object) -> tuple[int, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise ConfigError(f"model.options.{option}: expected a list of whole numbers, got {values!r}")
    return tuple(positive_whole_number(f"{option}.{index}", value) for index, value in enumerate(values))
