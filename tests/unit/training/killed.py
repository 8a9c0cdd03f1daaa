"""A training that is killed with SIGKILL while it writes the checkpoint of epoch 3: `killed.py FOLDER WHERE`."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import torch
from unit.training import tiny

from sluice.io import files
from sluice.training.fit import Epoch

folder, where = Path(sys.argv[1]), sys.argv[2]


def _half_a_state(_: Any, path: Path) -> None:
    path.write_bytes(b"PK half a state")
    os.kill(os.getpid(), signal.SIGKILL)


def _no_digest(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _arm(epoch: Epoch) -> None:
    if epoch.epoch == 3 and where == "state":
        torch.save = _half_a_state
    if epoch.epoch == 3 and where == "digest":
        files.write_text = _no_digest


tiny.train(checkpoints=folder, on_epoch_end=_arm)
