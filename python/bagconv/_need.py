"""Packages that some calls need, imported when they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from ._errors import MissingDependency

_EXTRAS = {"pyarrow": "arrow", "numpy": "arrow", "polars": "polars", "pandas": "pandas", "PIL": "images"}


def need(module: str, purpose: str) -> Any:
    """Import a module, such as ``pyarrow`` or ``PIL.Image``.

    If it is not installed, raise MissingDependency: ``purpose`` needs it, and the line for pip.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as e:
        if e.name is None or e.name.partition(".")[0] != module.partition(".")[0]:
            raise  # it is installed, and something else is missing
        raise missing(e, purpose) from None


def missing(error: ModuleNotFoundError, purpose: str) -> MissingDependency:
    """Return the error that says which package is missing for a purpose, and how to install it."""
    package = (error.name or "").partition(".")[0]
    name = {"PIL": "Pillow"}.get(package, package)
    extra = _EXTRAS.get(package)
    line = f"pip install 'bagconv[{extra}]'" if extra else f"pip install {name}"
    return MissingDependency(f"{purpose} needs {name}, which is not installed: {line}", name=package)
