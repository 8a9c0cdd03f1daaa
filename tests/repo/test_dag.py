"""dvc.yaml is the one DAG, and it says the truth about the code."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import grimp
import pytest
from ruamel.yaml import YAML

from sluice import cli
from sluice.config import params

STAGES: dict[str, dict[str, Any]] = YAML(typ="safe", pure=True).load(
    (Path(__file__).parents[2] / "dvc.yaml").read_text(encoding="utf-8")
)["stages"]
GRAPH = grimp.build_graph("sluice", cache_dir=None)
PLUG_INS = {  # where a name from params.yaml is loaded, and what it may load
    "sluice.tasks": ("tasks", "models", "data", "plugins"),
    "sluice.models": ("models", "plugins"),
    "sluice.engines": ("engines",),
    "sluice.export": ("export", "engines"),
    "sluice.data.source": ("data",),
}
WITHOUT_CODE = {"environment", "registry"}  # they run always
WITHOUT_CONTENT = {"src/sluice/__init__.py", "src/sluice/stages/__init__.py"}
WITHOUT_GATE_SPLIT = {"validate", "drift", "tune", "train", "profile", "capture", "export", "benchmark"}


def test_stages_are_pages_and_commands(repository: Path) -> None:
    """Every stage of dvc.yaml is one file in stages/ and one command, and there are no others."""
    pages = {path.stem for path in (repository / "src/sluice/stages").glob("*.py")} - {"__init__"}
    assert set(STAGES) == pages == {*cli.STAGES, "export", "gate"}
    assert all(stage["cmd"].startswith(f"exec sluice {name}") for name, stage in STAGES.items())


@pytest.mark.parametrize("name", sorted(set(STAGES) - WITHOUT_CODE))
def test_deps_cover_the_code(name: str) -> None:
    """A stage runs again when any code that it can import changes, or the lock file (D11)."""
    needed = {f"sluice.stages.{name}"} | GRAPH.find_upstream_modules(f"sluice.stages.{name}")
    files = {_file(module) for module in needed} | {
        f"src/sluice/{folder}" if folder != "plugins" else folder
        for place, folders in PLUG_INS.items()
        if any(module == place or module.startswith(f"{place}.") for module in needed)
        for folder in folders
    }
    deps = STAGES[name]["deps"]
    assert "requirements.lock" in deps
    assert not sorted(file for file in files if not _covered(file, deps)), "missing in deps"
    code = [dep for dep in deps if dep.startswith("src/")]
    assert not [dep for dep in code if not any(_covered(file, [dep]) for file in files)], "superfluous in deps"


def _file(module: str) -> str:
    path = "src/" + module.replace(".", "/")
    return path + "/__init__.py" if (Path(__file__).parents[2] / path).is_dir() else path + ".py"


def _covered(file: str, deps: Iterable[str]) -> bool:
    return file in WITHOUT_CONTENT or any(file == dep or file.startswith(f"{dep}/") for dep in deps)


@pytest.mark.parametrize("name", sorted(WITHOUT_GATE_SPLIT))
def test_gate_split_is_out_of_reach(name: str) -> None:
    """Nothing that learns, calibrates or times can depend on the gate split."""
    assert not [dep for dep in STAGES[name].get("deps", []) if dep in {"data/prepared", "data/prepared/gate"}]


@pytest.mark.parametrize("name", sorted(STAGES))
def test_params_are_declared(name: str) -> None:
    """Each stage names the parameters that its page reads."""
    page = (Path(__file__).parents[2] / f"src/sluice/stages/{name}.py").read_text(encoding="utf-8")
    read = {match.rstrip("_") for match in re.findall(r"\bparams\.([a-z_]+)", page)}
    declared = {entry.split(".")[0] for entry in STAGES[name].get("params", [])}
    if name not in WITHOUT_CODE:
        assert read <= declared, f"{name} reads {read - declared}"
    assert declared <= set(params.Params.model_json_schema()["properties"])


@pytest.mark.parametrize("name", sorted(STAGES))
def test_templated_outs_are_quoted(name: str, repository: Path) -> None:
    """An out with a template is quoted in the file, as DVC needs."""
    text = (repository / "dvc.yaml").read_text(encoding="utf-8")
    for out in STAGES[name].get("outs", []):
        path = out if isinstance(out, str) else next(iter(out))
        assert "${" not in path or f'"{path}"' in text
