import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from sluice.commands.doctor import doctor
from sluice.io import process


@pytest.fixture
def made(workspace: Path, repository: Path) -> Path:
    """A DVC workspace without a run."""
    subprocess.run([sys.executable, "-m", "dvc", "init", "--no-scm", "-q"], check=True)
    shutil.copy(repository / "params/digits.yaml", workspace / "params.yaml")
    shutil.copy(repository / "requirements.lock", workspace / "requirements.lock")
    return workspace


@pytest.fixture
def server() -> Iterator[str]:
    """Answers every question with a version of long ago."""

    class Old(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'"0.0.1"')

        def log_message(self, *arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Old) as found:
        Thread(target=found.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{found.server_port}/api"
        found.shutdown()


def test_a_sound_workspace_has_no_problem(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Versions, engines and disk are said; what is not there yet is a note."""
    assert doctor(export=False) is False
    out = capsys.readouterr().out
    for words in ("libraries as in requirements.lock", "Engine onnxruntime", "GiB free", "no MLflow store yet"):
        assert words in out


def test_the_configured_model_is_tried(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before any data are there: the model goes through capture, or it is said what cannot."""
    assert doctor(export=True) is False
    assert "can be captured and written as ONNX" in " ".join(capsys.readouterr().out.split())
    (made / "plugins").mkdir()
    (made / "plugins/mine.py").write_text(
        "from torch import nn\n"
        "class Net(nn.Module):\n"
        "    def __init__(self, k):\n        super().__init__()\n        self.l = nn.Linear(64, k)\n"
        "    def forward(self, x):\n        x = x.flatten(1)\n        return self.l(x) if x.sum() > 0 else self.l(-x)\n"
        "def build(*, in_channels, height, width, num_classes): return Net(num_classes)\n"
    )
    text = (made / "params.yaml").read_text()
    start = text.index("model:")
    end = text.index("train:", start)
    (made / "params.yaml").write_text(f'{text[:start]}model: {{name: "mine:build"}}\n\n{text[end:]}')
    assert doctor(export=True) is True
    assert "cannot be captured as one graph" in " ".join(capsys.readouterr().out.split())


def test_what_is_wrong_is_said_all_at_once(
    made: Path, server: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another version than the lock's, a server of another version, a store that is away, a lock that is held."""
    lock = (made / "requirements.lock").read_text()
    (made / "requirements.lock").write_text(lock.replace("typer==", "typer==9").replace("pandas==", "nowhere=="))
    monkeypatch.setenv("PREFECT_API_URL", server)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    rwlock = made / ".dvc/tmp/rwlock"
    rwlock.parent.mkdir(exist_ok=True)
    rwlock.write_text(json.dumps({"models/trained": {"write": {"pid": 2**22 + 1, "cmd": "dvc repro"}}}))
    with process.only_one("train"):
        assert doctor(export=False) is True
    out = " ".join(capsys.readouterr().out.split())
    for words in (
        "Not as in requirements.lock",
        "nowhere missing",
        "and 0.0.1 at",
        "127.0.0.1:9 refused",
        "DVC: models/trained is locked",
        "train is running in this workspace",
    ):
        assert words in out
