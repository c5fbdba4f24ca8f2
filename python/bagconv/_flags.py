"""Keyword arguments as flags of the program: ``chunk_size="4M"`` is ``--chunk-size=4M``.

| value | flag |
|---|---|
| None | none |
| True, False | ``--name``, ``--name=false`` |
| text, a number, a path | ``--name=value`` |
| datetime with a time zone, pandas.Timestamp, numpy.datetime64 (UTC) | ``--name=@SECONDS``, to the ns |
| timedelta | ``--name=SECONDS`` |
| a list or tuple | the flag once for each, but one with commas for ``columns``, ``at``, ``ignore``, ``exact`` |
| a mapping | the flag once for each: ``remap={"/a": "/b"}`` is ``--remap=/a:=/b`` |

``start`` and ``end`` are times as everywhere in the package (``_times``): an int is ns since 1970, a float seconds
after the first message. A name with an underscore at its end is the flag without it: ``from_="bag"``. ``topics`` and
the like are ``--topic``.
"""

from __future__ import annotations

import datetime
import operator
import os
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from . import _times

_PLURALS = {
    "topics": "topic",
    "exclude_topics": "exclude-topic",
    "types": "type",
    "exclude_types": "exclude-type",
}
_JOINED = frozenset(("at", "columns", "exact", "explode", "ignore"))  # whose values have commas between
_BETWEEN = {"remap": ":=", "qos": ":"}  # what stands between key and value, unless it is =

# What the functions of this package set, or what would ask for something else than a result.
_TAKEN = frozenset(
    ("json", "report", "progress", "quiet", "color", "help", "version", "output", "output-dir", "guess")
)


def flags(values: Mapping[str, Any]) -> list[str]:
    """Return keyword arguments as words of the command line.

    Raises TypeError for a name that is no flag to set here, or a value that no flag has.
    """
    words = []
    for key, value in values.items():
        name = _PLURALS.get(key) or key.rstrip("_").replace("_", "-")
        if name in _TAKEN:
            raise TypeError(
                f"{key} is no argument of this call, which sets what is printed and where the output is itself"
            )
        if value is None:
            continue
        if value is True:
            words.append(f"--{name}")
        elif isinstance(value, Mapping):
            between = _BETWEEN.get(name, "=")
            words += [f"--{name}={text(key, k)}{between}{text(key, v)}" for k, v in value.items()]
        elif isinstance(value, (list, tuple, set, frozenset)) and name in _JOINED:
            words.append(f"--{name}=" + ",".join(text(key, v) for v in value))
        elif isinstance(value, (list, tuple, set, frozenset)):
            words += [f"--{name}={text(key, v)}" for v in value]
        else:
            words.append(f"--{name}={text(key, value)}")
    return words


def text(name: str, value: Any) -> str:
    """Return a value as the program reads it; ``name`` is for the error."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if name in ("start", "end") or _is_time(value):
        return _times.argument(value, name) or ""
    if isinstance(value, float):  # numpy.float64 is one
        return format(Decimal(repr(float(value))), "f")
    try:
        return str(operator.index(value))
    except TypeError:
        raise TypeError(f"{name} is {value!r}, a {type(value).__name__}: no flag has such a value") from None


def _is_time(value: Any) -> bool:
    """Tell whether a value is a date or a duration; numpy is not imported for that."""
    return isinstance(value, (datetime.datetime, datetime.timedelta)) or type(value).__name__ in (
        "datetime64",
        "timedelta64",
    )
