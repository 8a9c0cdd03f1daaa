"""The one place for what libraries read from the environment, here and in all processes that are started from here.

Telemetry and chatter are off, and idle OpenMP threads soon sleep.
"""

import os

__all__ = ["SWITCHES", "off"]

SWITCHES = {
    "DO_NOT_TRACK": "1",
    "DVC_NO_ANALYTICS": "1",
    "GX_ANALYTICS_ENABLED": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "TORCH_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "MLFLOW_LOGGING_LEVEL": "WARNING",
    "GOMP_SPINCOUNT": "1000",  # as quick alone, 1.7 times as quick and half the CPU time beside one busy neighbour
    "KINETO_LOG_LEVEL": "6",  # torch.profiler says on stderr that there is no GPU
}


def off() -> None:
    """Call it before any of the libraries is imported; a switch that the user has set stays as it is."""
    for name, value in SWITCHES.items():
        os.environ.setdefault(name, value)
