"""Every error that Sluice raises on purpose.

SluiceError                  something failed, exit code 1
├── TrainingError            a loss or gradient that is not finite; a checkpoint that cannot be read
├── Incomparable             two models that cannot be asked the same thing; a person has to decide
├── EngineError              an engine that could not export, load or run a model
├── TrackingError            the MLflow store refused, or holds something else than it should
├── Busy                     another process is doing the same work in this workspace
└── UserError                bad input or usage, exit code 2
    ├── ConfigError          params.yaml, or a preset
    ├── DataError            the folder of data, or one file in it
    ├── UnknownPlugin        a task, model, engine or source that does not exist
    ├── MissingLibrary       a plug-in whose library is not installed
    ├── MissingArtifact      a file that an earlier stage should have made
    ├── PromotionRefused     a version that may not become champion
    └── WorkspaceError       no git, no DVC, or not a Sluice workspace

A message names the file or key, the value, and what to do.
"""

__all__ = [
    "Busy",
    "ConfigError",
    "DataError",
    "EngineError",
    "Incomparable",
    "MissingArtifact",
    "MissingLibrary",
    "PromotionRefused",
    "SluiceError",
    "TrackingError",
    "TrainingError",
    "UnknownPlugin",
    "UserError",
    "WorkspaceError",
]


class SluiceError(Exception):
    exit_code = 1


class TrainingError(SluiceError):
    pass


class EngineError(SluiceError):
    pass


class Incomparable(SluiceError):
    pass


class TrackingError(SluiceError):
    pass


class Busy(SluiceError):
    pass


class UserError(SluiceError):
    exit_code = 2


class ConfigError(UserError):
    pass


class DataError(UserError):
    pass


class UnknownPlugin(UserError):
    pass


class MissingLibrary(UserError):
    pass


class MissingArtifact(UserError):
    pass


class PromotionRefused(UserError):
    pass


class WorkspaceError(UserError):
    pass
