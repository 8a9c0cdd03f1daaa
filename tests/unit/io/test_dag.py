from pathlib import Path

from ruamel.yaml import YAML

from sluice.io.dag import read_dag


def test_stages_and_edges_are_those_of_dvc(repository: Path) -> None:
    """Every stage of dvc.yaml, each after what it reads, matrix stages one by one."""
    stages = {stage.name: stage for stage in read_dag(repository)}
    defined = YAML(typ="safe", pure=True).load((repository / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    assert {name.partition("@")[0] for name in stages} == defined.keys()
    assert stages["prepare"].after == {"validate"}
    assert stages["evaluate"].after >= {"export@onnxruntime-fp32", "export@openvino-fp32", "train"}
    assert {name for name, stage in stages.items() if stage.exclusive} == {"profile", "benchmark", "compare"}


def test_the_order_is_one_that_can_be_run(repository: Path) -> None:
    """Each stage stands after all that it waits for."""
    seen: set[str] = set()
    for stage in read_dag(repository):
        assert stage.after <= seen
        seen.add(stage.name)
