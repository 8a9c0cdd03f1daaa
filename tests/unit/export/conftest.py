from pathlib import Path

import pytest
from contracts.small_model import write_captured


@pytest.fixture(scope="session")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_captured(tmp_path_factory.mktemp("small") / "captured")
