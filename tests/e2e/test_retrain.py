"""The flow for a schedule: new data, what they change, and nothing when nothing changed."""

import subprocess
import sys
from pathlib import Path

import pytest
from e2e.flow import Flow, make_flow

from flows.server import free_port, server

pytestmark = [pytest.mark.e2e, pytest.mark.long]

DAG = """
stages:
  environment: {cmd: "echo 1 > environment.txt", always_changed: true, outs: [environment.txt]}
  registry: {cmd: "echo 1 > registry.txt", always_changed: true, outs: [registry.txt]}
  use: {cmd: "ls data/raw > use.txt", deps: [data/raw, registry.txt], outs: [use.txt]}
"""


def retrain(flow: Flow) -> None:
    command = [sys.executable, "-c", "from flows.retrain import retrain; retrain()"]
    subprocess.run(command, cwd=flow.root, env=flow.environment, check=True, capture_output=True)


@pytest.mark.parametrize("fetch", ["null", "digits"])
def test_only_new_data_set_it_to_work(tmp_path: Path, repository: Path, fetch: str) -> None:
    """First everything runs, then it is Skip; own data that came since are added to DVC and used."""
    (tmp_path / "flow").mkdir()
    with server(tmp_path, port=free_port()) as url:
        flow = make_flow(tmp_path / "flow", repository=repository, url=url)
        (flow.root / "dvc.yaml").write_text(DAG)
        params = (flow.root / "params.yaml").read_text().replace("fetch: fashion-mnist", f"fetch: {fetch}")
        (flow.root / "params.yaml").write_text(params)
        flow.dvc("config", "core.no_scm", "true")
        if fetch == "null":
            (flow.root / "data/raw/cat").mkdir(parents=True)
        retrain(flow)
        assert flow.last_run()["state_name"] == "Completed"
        retrain(flow)
        assert flow.last_run()["state_name"] == "Skip"
        if fetch == "digits":
            assert len((flow.root / "use.txt").read_text().split()) == 10
            return
        (flow.root / "data/raw/dog").mkdir()
        (flow.root / "data/raw/dog/1.txt").write_text("wau")
        retrain(flow)
        assert flow.states()["use"] == "Ran"
        assert "dog" in (flow.root / "use.txt").read_text()
