"""From `model.name` and `model.options` to a network: a model of the table, or your own in plugins/.

A factory is `build(*, in_channels: int, height: int, width: int, num_classes: int, **options) -> nn.Module`. It draws
its first weights from torch's global generator.
"""

import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType

import torch
from torch import Tensor, nn

from sluice.config.learning import ModelConfig
from sluice.config.plugins import MODELS
from sluice.config.schema import Schema
from sluice.errors import ConfigError, MissingLibrary, UnknownPlugin
from sluice.io import paths

__all__ = ["build"]

Factory = Callable[..., nn.Module]

_MISTAKES = (
    TypeError,
    ValueError,
    AttributeError,
    NameError,
    LookupError,
    ArithmeticError,
    RuntimeError,
    SyntaxError,
    SystemExit,
)


def build(config: ModelConfig, *, schema: Schema) -> nn.Module:
    """Raises UnknownPlugin, MissingLibrary, or ConfigError for options that the factory does not take."""
    factory = _factory(config.name)
    shape = {
        "in_channels": schema.channels,
        "height": schema.height,
        "width": schema.width,
        "num_classes": schema.num_classes,
    }
    _check_options(config, factory=factory, given=set(shape))
    with _own_words(f"model.name: {config.name!r} cannot be built with model.options {config.options}"):
        net = factory(**shape, **config.options)
    if not isinstance(net, nn.Module):
        raise ConfigError(f"model.name: {config.name!r} returned {type(net).__name__}, expected a torch.nn.Module")
    if not any(True for _ in net.parameters()):
        raise ConfigError(f"model.name: {config.name!r} has no parameters, so there is nothing to train")
    with _own_words(f"model.name: {config.name!r} does not take images [2, {', '.join(map(str, _chw(schema)))}]"):
        outputs = _outputs(net, torch.zeros(2, *_chw(schema)))
    if not isinstance(outputs, Tensor) or outputs.shape != (2, schema.num_classes):
        found = list(outputs.shape) if isinstance(outputs, Tensor) else type(outputs).__name__
        raise ConfigError(f"model.name: {config.name!r} gives {found} for 2 images, expected [2, {schema.num_classes}]")
    return net


def _chw(schema: Schema) -> tuple[int, int, int]:
    return schema.channels, schema.height, schema.width


def _outputs(net: nn.Module, images: Tensor) -> object:
    """In eval mode, so that nothing in the net changes; the mode is put back."""
    training = net.training
    with torch.inference_mode():
        outputs: object = net.eval()(images)
    net.train(training)
    return outputs


@contextmanager
def _own_words(what: str) -> Iterator[None]:
    """What a model's own code raises, as one sentence with the line that it came from."""
    try:
        yield
    except _MISTAKES as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        said = " ".join(str(error).split()) or type(error).__name__
        raise ConfigError(f"{what}: {said} ({Path(at.filename).name}, line {at.lineno})") from error


def _check_options(config: ModelConfig, *, factory: Factory, given: set[str]) -> None:
    parameters = inspect.signature(factory).parameters.values()
    accepted = [item.name for item in parameters if item.kind in (item.KEYWORD_ONLY, item.POSITIONAL_OR_KEYWORD)]
    options = [name for name in accepted if name not in given]
    takes_any = any(item.kind == item.VAR_KEYWORD for item in parameters)
    wrong = [name for name in config.options if name in given or (not takes_any and name not in options)]
    if wrong:
        raise ConfigError(
            f"model.options: {config.name!r} does not take {', '.join(map(repr, wrong))}. "
            f"It takes: {', '.join(options) or 'no options'}"
        )


def _factory(name: str) -> Factory:
    module_name, colon, attribute = MODELS.get(name, name).partition(":")
    if not colon:
        raise _unknown(name, known=MODELS)
    module = import_module(module_name) if name in MODELS else _own_module(module_name, name=name)
    factory = getattr(module, attribute, None)
    if not callable(factory):
        known = [f"{module_name}:{key}" for key, value in vars(module).items() if inspect.isfunction(value)]
        raise _unknown(name, known=[*known, *MODELS])
    return factory  # type: ignore[no-any-return]


def _own_module(module_name: str, *, name: str) -> ModuleType:
    with _on_path(Path.cwd() / paths.PLUGINS):
        try:
            with _own_words(f"model.name: {name!r} cannot be imported"):
                return import_module(module_name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
                raise MissingLibrary(
                    f"model.name: {name!r} needs the library {error.name!r}. Install it with: pip install {error.name}"
                ) from error
    files = sorted(paths.PLUGINS.glob("*.py"))
    raise _unknown(name, known=[*(f"{file.stem}:{name.partition(':')[2]}" for file in files), *MODELS])


@contextmanager
def _on_path(folder: Path) -> Iterator[None]:
    invalidate_caches()
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _unknown(name: str, *, known: list[str] | dict[str, str]) -> UnknownPlugin:
    nearest = get_close_matches(name, list(known), n=1, cutoff=0.0)
    return UnknownPlugin(
        f"model.name: {name!r} is not there. There are: {', '.join(known)}. Nearest: {', '.join(nearest)}. "
        f"Your own: 'module:factory' for the function in {paths.PLUGINS}/module.py"
    )
