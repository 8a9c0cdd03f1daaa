import json
from pathlib import Path

import jsonschema
import pytest
from contracts.small_model import SIGNATURE

from sluice.export.signature import for_engine


@pytest.fixture(scope="module")
def schema(repository: Path) -> jsonschema.Draft202012Validator:
    text = (repository / "docs/schemas/signature.schema.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def test_schema_is_a_schema(schema: jsonschema.Draft202012Validator) -> None:
    """The committed schema is valid itself."""
    schema.check_schema(schema.schema)


def test_written_signature_fits_its_schema(captured: Path, schema: jsonschema.Draft202012Validator) -> None:
    """What stands beside a captured model is what the docs promise (G10)."""
    written = json.loads((captured / "signature.json").read_text(encoding="utf-8"))
    schema.validate(written)
    schema.validate(for_engine(written, engine="openvino-fp32", precision="fp32"))


@pytest.mark.parametrize("key", sorted(SIGNATURE))
def test_no_part_may_lack(key: str, schema: jsonschema.Draft202012Validator) -> None:
    """A consumer may rely on every key."""
    assert not schema.is_valid({name: value for name, value in SIGNATURE.items() if name != key})


def test_classes_stand_in_order() -> None:
    """The index of an output is the place of its name (G10)."""
    assert SIGNATURE["classes"] == ["coat", "bag", "naïve & co"]
