"""A message as a view of a row: a field is looked up when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Callable, ClassVar

from . import _columns
from ._need import need


class Row:
    """A message, or a struct in it: `msg.header.stamp`, `msg["header"]`, `msg["header.stamp"]`.

    Names that Python does not take as attributes, such as `class`, and those that begin with `_` are read in brackets.
    `_fields` are the names, `_asdict()` is a dict of it all. Two rows are equal if all of their fields are.
    """

    __slots__ = ("_c", "_i")
    _fields: ClassVar[tuple[str, ...]] = ()
    _name: ClassVar[str] = ""
    _places: ClassVar[dict[str, int]] = {}
    _c: Any
    _i: int
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, columns: Any, i: int) -> None:
        self._c = columns
        self._i = i

    def __getitem__(self, name: str) -> Any:
        place = self._places.get(name)
        if place is not None:
            return self._c[place][self._i]
        head, dot, rest = name.partition(".")
        if dot and head in self._places:
            inner = self[head]
            if inner is None:
                return None
            if isinstance(inner, Row):
                return inner[rest]
        raise KeyError(f"{self._name} has no field {name!r}, but {', '.join(self._fields)}")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self._name} has no field {name!r}, but {', '.join(self._fields)}")

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def _asdict(self) -> dict[str, Any]:
        """Return a dict of the fields, with dicts for structs; arrays stay views."""
        return {name: _plain(self[name]) for name in self._fields}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row):
            return NotImplemented
        return self._fields == other._fields and all(_equal(self[n], other[n]) for n in self._fields)

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={_short(self[name])}" for name in self._fields)
        return f"{self._name.rpartition('/')[2].rpartition('.')[2]}({fields})"

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle has the row alone, with copies of its arrays."""
        return thaw, (self._name, [(name, _own(self[name])) for name in self._fields])


def thaw(name: str, fields: Sequence[tuple[str, Any]]) -> Row:
    """Return a row with these fields."""
    made = row_class(name, [n for n, _ in fields])
    return made([[value] for _, value in fields], 0)


def row_class(name: str, names: Sequence[str], hidden: int = 0) -> type[Row]:
    """Make a class of rows. The first names, as many as are hidden, are in brackets only."""
    body: dict[str, Any] = {"__slots__": (), "_name": name, "_fields": tuple(names[hidden:])}
    body["_places"] = {field: i for i, field in reversed(list(enumerate(names)))}
    for i, field in enumerate(names):
        if i >= hidden and not field.startswith("_"):  # Row itself has no other names
            body.setdefault(field, property(_getter(i)))
    return type("Row", (Row,), body)


def _getter(i: int) -> Callable[[Any], Any]:
    def get(row: Any) -> Any:
        return row._c[i][row._i]

    return get


class RowList(Sequence[Row]):
    """A list of structs: its views are made when they are asked for."""

    __slots__ = ("_end", "_start", "_structs")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, structs: Any, start: int, end: int) -> None:
        self._structs, self._start, self._end = structs, start, end

    def __len__(self) -> int:
        return self._end - self._start

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self._structs[j] for j in range(self._start, self._end)[i]]
        return self._structs[range(self._start, self._end)[i]]

    def __iter__(self) -> Iterator[Row]:
        return map(self._structs.__getitem__, range(self._start, self._end))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (list, RowList)):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other))

    def __repr__(self) -> str:
        return _short(self)

    def columns(self) -> dict[str, Any]:
        """Return the fields that are numbers as arrays, by name."""
        return {
            name: _columns.one(array.slice(self._start, len(self)), name)
            for name, array in self._structs.arrays()
            if _columns.numeric(array.type)
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def _plain(value: Any) -> Any:
    if isinstance(value, Row):
        return value._asdict()
    if isinstance(value, (list, RowList)):
        return [_plain(v) for v in value]
    return {k: _plain(v) for k, v in value.items()} if isinstance(value, dict) else value


def _own(value: Any) -> Any:
    """Return a value that does not look into a batch."""
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, (list, RowList)):
        return [_own(v) for v in value]
    if isinstance(value, dict):
        return {k: _own(v) for k, v in value.items()}
    return value.copy() if hasattr(value, "dtype") else value


def _equal(a: Any, b: Any) -> bool:
    if hasattr(a, "dtype") or hasattr(b, "dtype"):
        np = need("numpy", "rows")
        return bool(np.array_equal(a, b))
    return bool(a == b)


def _short(value: Any) -> str:
    if isinstance(value, memoryview):
        return f"<{len(value)} bytes>"
    if hasattr(value, "dtype") and value.size > 9:
        return f"<{value.size} of {value.dtype}>"
    if hasattr(value, "tolist"):
        return str(value.tolist())
    if isinstance(value, (list, RowList)):
        more = f", ... {len(value)}" if len(value) > 3 else ""
        return f"[{', '.join(_short(v) for v in value[:3])}{more}]"
    return repr(value)
