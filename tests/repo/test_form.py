"""The rules of form that no linter knows."""

import ast
import importlib
import pkgutil
from pathlib import Path

import pytest

import flows
import sluice

SOURCE = Path(sluice.__file__).parent
FILES = [path for where in ("src", "flows", "bench") for path in sorted((SOURCE.parents[1] / where).glob("**/*.py"))]
TEST_FILES = sorted((SOURCE.parents[1] / "tests").glob("**/*.py"))
MODULES = sorted(
    module.name
    for package in (sluice, flows)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
)


@pytest.mark.parametrize("path", FILES + TEST_FILES, ids=lambda path: str(path.relative_to(SOURCE.parents[1])))
def test_file_is_at_most_300_lines(path: Path) -> None:
    """A file fits a reader's head."""
    assert path.read_text(encoding="utf-8").count("\n") <= 300


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE.parents[1])))
def test_functions_are_at_most_50_lines(path: Path) -> None:
    """A function fits a screen, its docstring not counted."""
    long = [
        f"{node.name}: {length}"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (length := _length(node)) > 50
    ]
    assert not long


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    docstring = ast.get_docstring(node, clean=False) or ""
    return (node.end_lineno or node.lineno) - node.lineno + 1 - docstring.count("\n")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE.parents[1])))
def test_no_broad_except(path: Path) -> None:
    """What is caught is named."""
    handlers = [
        node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.ExceptHandler)
    ]
    broad = {None, "Exception", "BaseException"}
    assert not [node.lineno for node in handlers if (node.type is None or ast.unparse(node.type) in broad)]


@pytest.mark.parametrize("name", sorted(set(MODULES) - {"sluice.io.paths"}))  # every name there is public
def test_all_is_true(name: str) -> None:
    """`__all__` names what is there and public, and every module that defines something has one."""
    module = importlib.import_module(name)
    public = getattr(module, "__all__", None)
    if public is None:
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        assert not [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        return
    assert all(hasattr(module, item) and not item.startswith("_") for item in public)
