import subprocess
import sys
from pathlib import Path

import pytest

from sluice.config import plugins
from sluice.config.plugins import EngineEntry
from sluice.engines import Available, Missing, load, probe
from sluice.errors import EngineError, MissingArtifact, MissingLibrary, UnknownPlugin

INSTALL = "pip install no-such-library"


def _table(monkeypatch: pytest.MonkeyPatch, *, module: str, library: str) -> None:
    monkeypatch.setitem(plugins.ENGINES, "onnxruntime", EngineEntry(module, module, library, INSTALL, ("fp32",)))


def _folder(path: Path) -> Path:
    (path / "signature.json").write_text("{}")
    return path


@pytest.mark.parametrize("name", ["onnxruntime", "onnxruntime-int4", "tensorrt-fp32", ""])
def test_unknown_engine_lists_those_that_exist(name: str, tmp_path: Path) -> None:
    """A wrong name is answered with the right ones."""
    with pytest.raises(UnknownPlugin, match=r"does not exist. Take one of: onnxruntime-fp32, openvino-fp32"):
        load(name, tmp_path, threads=1)


def test_folder_without_signature_is_named(tmp_path: Path) -> None:
    """A folder that is no export is said to be none."""
    with pytest.raises(MissingArtifact, match=r"signature\.json does not exist"):
        load("onnxruntime-fp32", tmp_path, threads=1)


def test_missing_library_comes_with_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence, with what to type (G4)."""
    (tmp_path / "absent_engine.py").write_text("import no_such_library\n")
    monkeypatch.syspath_prepend(tmp_path)
    _table(monkeypatch, module="absent_engine", library="no_such_library")
    with pytest.raises(MissingLibrary, match=f"needs the library 'no_such_library'. Install it with: {INSTALL}$"):
        load("onnxruntime-fp32", _folder(tmp_path), threads=1)


def test_broken_library_is_an_error_of_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed but unable to import is not the same as missing."""
    (tmp_path / "broken_engine.py").write_text("raise ImportError('libX.so.1: cannot open shared object file')\n")
    monkeypatch.syspath_prepend(tmp_path)
    _table(monkeypatch, module="broken_engine", library="no_such_library")
    with pytest.raises(EngineError, match=r"libX\.so\.1.*Install it anew with: pip install --force-reinstall no-such"):
        load("onnxruntime-fp32", _folder(tmp_path), threads=1)


def test_a_missing_file_of_our_own_is_no_missing_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A typing error in the table is not blamed on the user's machine."""
    _table(monkeypatch, module="sluice.engines.no_such_engine", library="no_such_library")
    with pytest.raises(ModuleNotFoundError, match=r"sluice\.engines\.no_such_engine"):
        load("onnxruntime-fp32", _folder(tmp_path), threads=1)


def test_probe_finds_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that imports is available, with its version."""
    _table(monkeypatch, module="none", library="numpy")
    found = probe("onnxruntime")
    assert isinstance(found, Available)
    assert found.version[0].isdigit()


@pytest.mark.parametrize(
    ("library", "reason", "remedy"),
    [
        ("no_such_library", "the library 'no_such_library' is not installed", f"Install it with: {INSTALL}"),
        ("sys; raise ImportError('libX.so.1') #", "does not import: ImportError: libX.so.1", "Install it anew with:"),
        ("os; os.abort() #", "does not import: the process ended with code -6", "Install it anew with:"),
    ],
)
def test_probe_says_why_something_is_missing(
    library: str, reason: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Absent, broken and crashing are told apart, and none of them ends this process."""
    _table(monkeypatch, module="none", library=library)
    found = probe("onnxruntime")
    assert isinstance(found, Missing)
    assert reason in found.reason
    assert remedy in found.remedy


def test_probe_has_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that hangs at import does not hang the pipeline."""
    _table(monkeypatch, module="none", library="numpy")
    found = probe("onnxruntime", timeout_s=0.001)
    assert isinstance(found, Missing)
    assert "took over 0.001 s" in found.reason


def test_probe_of_an_unknown_engine_lists_those_that_exist() -> None:
    """A wrong name is answered with the right ones."""
    with pytest.raises(UnknownPlugin, match="Take one of: onnxruntime, openvino"):
        probe("tensorrt")


def test_importing_engines_loads_no_engine_and_no_torch() -> None:
    """What lists engines starts at once, on a machine that has none."""
    code = "import sys, sluice.engines; print(sorted({'torch', 'onnxruntime', 'openvino', 'onnx'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
