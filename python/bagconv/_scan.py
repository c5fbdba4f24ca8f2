"""A topic as a lazy frame of polars: columns, ranges of log time and a number of rows are asked of the recording."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Callable, Union

from ._need import need

if TYPE_CHECKING:
    import polars as pl

_UNITS = {"Nanoseconds": 1, "Microseconds": 1000, "Milliseconds": 1_000_000}

Bound = Union[int, None]  # ns, or none

# Yields batches of some columns with a log time from least to most, both included.
Read = Callable[[Sequence[str], Bound, Bound], Iterator[Any]]


def lazy(schema: Callable[[], Any], read: Read) -> pl.LazyFrame:
    """Return a lazy frame; schema makes the schema of Arrow when it is needed."""
    polars = need("polars", "Topic.scan")
    plugins = need("polars.io.plugins", "Topic.scan")

    def frames(
        with_columns: list[str] | None, predicate: Any, n_rows: int | None, batch_size: int | None
    ) -> Iterator[Any]:
        names = schema().names
        wanted = set(names if with_columns is None else with_columns)
        least: Bound = None
        most: Bound = None
        if predicate is not None:
            wanted |= set(predicate.meta.root_names())
            least, most = bounds(predicate, names[0])
        rows = 0
        for batch in read([name for name in names if name in wanted], least, most):
            frame = polars.from_arrow(batch, rechunk=False)
            if predicate is not None:
                frame = frame.filter(predicate)
            frame = frame.select(names if with_columns is None else with_columns)
            if n_rows is not None:
                frame = frame.head(n_rows - rows)
            rows += frame.height
            yield frame
            if rows == n_rows:
                return

    def schema_of_polars() -> Any:
        return polars.from_arrow(schema().empty_table()).schema

    found: pl.LazyFrame = plugins.register_io_source(frames, schema=schema_of_polars)
    return found


def bounds(predicate: Any, column: str) -> tuple[Bound, Bound]:
    """Return the least and the greatest value of a column of times that a predicate may leave, ns.

    Only conditions that all rows must fulfil are looked at, in the form that polars writes today: what is not known
    bounds nothing, and polars filters in any case.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # JSON is deprecated
            tree = json.loads(predicate.meta.serialize(format="json"))
        return _bounds(tree, column)
    except Exception:
        return None, None


def _bounds(node: Any, column: str) -> tuple[Bound, Bound]:
    if "BinaryExpr" in node:
        left, op, right = (node["BinaryExpr"][key] for key in ("left", "op", "right"))
        if op in ("And", "LogicalAnd"):
            (a, b), (c, d) = _bounds(left, column), _bounds(right, column)
            return _the(max, a, c), _the(min, b, d)
        step = _rounded(left, column)
        if step is not None:
            return _wider(_compared(op, _time(right)), step)
        step = _rounded(right, column)
        if step is not None:
            turned = {"Gt": "Lt", "Lt": "Gt", "GtEq": "LtEq", "LtEq": "GtEq"}.get(op, op)
            return _wider(_compared(turned, _time(left)), step)
    if "Function" in node:
        function = node["Function"]
        between = function["function"]["Boolean"]["IsBetween"]
        value, least, most = function["input"]
        step = _rounded(value, column)
        if step is not None and between["closed"] in ("Both", "Left", "Right", "None"):
            return _wider((_time(least), _time(most)), step)
    return None, None


def _rounded(node: Any, column: str) -> int | None:
    """Return how far a node may be from the column, ns, None if it is another one: polars 1 casts it to µs."""
    if "Cast" in node:
        unit = node["Cast"]["dtype"]["Literal"]["Datetime"][0]
        return _UNITS[unit] - 1 if node["Cast"]["expr"].get("Column") == column else None
    return 0 if node.get("Column") == column else None


def _wider(bounds: tuple[Bound, Bound], step: int) -> tuple[Bound, Bound]:
    least, most = bounds
    return (None if least is None else least - step), (None if most is None else most + step)


def _the(choose: Callable[[int, int], int], a: Bound, b: Bound) -> Bound:
    return b if a is None else a if b is None else choose(a, b)


def _compared(op: str, at: int) -> tuple[Bound, Bound]:
    """Return the bounds of a value of which the comparison with a time is true; too wide does no harm."""
    if op == "Eq":
        return at, at
    if op in ("Gt", "GtEq"):
        return at, None
    return (None, at) if op in ("Lt", "LtEq") else (None, None)


def _time(node: Any) -> int:
    value, unit = node["Literal"]["Scalar"]["Datetime"][:2]
    return int(value) * _UNITS[unit]
