"""params.yaml as frozen, strict types."""

from sluice.config.params import Params, json_schema, load, parse

__all__ = ["Params", "json_schema", "load", "parse"]
