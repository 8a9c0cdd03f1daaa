"""The one place that switches off every library's telemetry and chatter, for this process and all that it starts."""

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
    "KINETO_LOG_LEVEL": "5",  # torch.profiler says on stderr that there is no GPU
}


def off() -> None:
    """Call it before any of the libraries is imported; a switch that the user has set stays as it is."""
    for name, value in SWITCHES.items():
        os.environ.setdefault(name, value)
