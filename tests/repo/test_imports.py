"""Each heavy library has one place that imports it."""

import ast
from pathlib import Path

import pytest

import sluice
from sluice.config import plugins

SOURCE = Path(sluice.__file__).parent
PLACES = {
    "mlflow": ("tracking/",),
    "optuna": ("sweep/",),
    "great_expectations": ("validation/",),
    "typer": ("cli.py",),
    "onnxruntime": ("engines/onnxruntime_engine.py", "export/onnxruntime_export.py"),
    "openvino": ("engines/openvino_engine.py", "export/openvino_export.py"),
}


@pytest.mark.parametrize("library", PLACES)
def test_a_library_is_imported_in_its_place(library: str) -> None:
    """Who looks for a library finds it where the layout says, and nowhere else."""
    strangers = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if library in _imported(path) and not str(path.relative_to(SOURCE)).startswith(PLACES[library])
    ]
    assert not strangers


def test_every_engine_has_its_two_files() -> None:
    """The table of engines and the files agree."""
    for kind, entry in plugins.ENGINES.items():
        assert entry.loads == f"sluice.engines.{kind}_engine"
        assert entry.exports == f"sluice.export.{kind}_export"
        assert (SOURCE / f"engines/{kind}_engine.py").exists()
        assert (SOURCE / f"export/{kind}_export.py").exists()
    assert {path.stem for path in SOURCE.glob("engines/*_engine.py")} == {f"{kind}_engine" for kind in plugins.ENGINES}


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names
