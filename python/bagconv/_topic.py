"""A topic of a recording, as tables, arrays and messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Union

from . import _columns, _facts, _merge, _row, _rows, _source, _stream, _times
from ._errors import BagconvError
from ._need import need

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from ._images import Frame
    from ._points import Cloud
    from ._times import Time

Columns = Union[str, Sequence[str], None]


class Topic(_facts.Facts):
    """A topic of a recording: its facts, and its messages in whatever form.

    Every call that reads starts a child and ends it; nothing is open between calls. A range of time is from `start`
    on and before `end`: an int is ns since 1970, as in results, a float seconds after the first message of the
    recording, a string as on the command line ("10s", "-30s", "2024-05-01T12:00:00Z"); datetime, timedelta and
    numpy.datetime64 do, too. `columns` are fields such as "header.stamp", a struct with all that is in it; the log
    time always comes along.

    Rows are in the order of log time. What is damaged or does not fit its definition is a `Loss` warning; a failure
    is a `BagconvError`.
    """

    # Tables and arrays.

    def batches(
        self,
        columns: Columns = None,
        start: Time = None,
        end: Time = None,
        *,
        flat: bool = False,
        explode: str | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the messages as batches of at most some MB: memory is bounded, whatever the size of the recording.

        `flat` makes a column of each member of a struct, with points in the names. `explode` names a list of structs,
        such as "transforms" of /tf: each element gets a row.
        """
        return self._batches(self._flags(columns, flat, explode), start, end)

    def arrow(
        self,
        columns: Columns = None,
        start: Time = None,
        end: Time = None,
        *,
        flat: bool = False,
        explode: str | None = None,
    ) -> pa.Table:
        """Return the messages as a table of pyarrow."""
        pa = need("pyarrow", "Topic.arrow")
        found = list(self._batches(self._flags(columns, flat, explode), start, end))
        if not found:
            return self._empty(columns, flat, explode)
        try:
            return pa.concat_tables([pa.Table.from_batches([b]) for b in found], promote_options="default")
        except pa.ArrowInvalid as e:
            raise BagconvError(f"{self.name} has messages of several definitions, which are no one table: {e}") from e

    def polars(self, columns: Columns = None, start: Time = None, end: Time = None, **form: Any) -> pl.DataFrame:
        """Return the messages as a data frame of polars; structs are structs, `T[N]` arrays. Keywords as of `arrow`."""
        polars = need("polars", "Topic.polars")
        frame: pl.DataFrame = polars.from_arrow(self.arrow(columns, start, end, **form), rechunk=False)
        return frame

    def scan(self, columns: Columns = None, *, flat: bool = False, explode: str | None = None) -> pl.LazyFrame:
        """Return a lazy frame of polars: it reads the columns and the range of log time that a query asks for.

            imu.scan().filter(pl.col("log_time") > moment).select("log_time", "angular_velocity").collect()

        With `flat` single members of structs are columns, and read alone. Reading is bounded in memory, so that the
        streaming engine works on recordings of any size.
        """
        from . import _scan

        known: list[Any] = []

        def schema() -> Any:
            if not known:
                known.append(self._empty(columns, flat, explode).schema)
            return known[0]

        def read(names: Sequence[str], least: int | None, most: int | None) -> Iterator[Any]:
            every = schema().names
            fields = [n for n in names if n not in every[:2]] or every[:1]
            chosen = columns if len(names) == len(every) else fields
            return self._within(self._flags(chosen, flat, explode), least, most)

        return _scan.lazy(schema, read)

    def pandas(
        self,
        columns: Columns = None,
        start: Time = None,
        end: Time = None,
        *,
        flat: bool = True,
        explode: str | None = None,
    ) -> pd.DataFrame:
        """Return the messages as a data frame of pandas, with the log time as index (datetime64[ns, UTC]).

        Members of structs are columns with points in their names, such as "angular_velocity.x"; arrays are numpy
        arrays in their cells.
        """
        need("pandas", "Topic.pandas")
        table = self.arrow(columns, start, end, flat=flat, explode=explode)
        frame = table.to_pandas()
        return frame.set_index(table.column_names[0])

    def numpy(self, path: str, *paths: str, start: Time = None, end: Time = None) -> Any:
        """Return a field of all messages as an array; of several fields, a tuple of arrays, read in one pass.

        Numbers are an array (n,) of their dtype, times datetime64[ns], `T[N]` an array (n, N), a struct of equal
        numbers such as a Vector3 (n, 3), in the order of its fields. Lists are (n, k) if all have k elements, else an
        array of n arrays; text and bytes are an array of objects. Absent values are NaN, NaT, or masked. "log_time"
        is the time of each message.
        """
        need("numpy", "Topic.numpy")
        names = [path, *paths]
        flags = self._flags(names, False, None)
        batches = list(self._batches(flags, start, end)) or [_stream.empty(self._empty(names, False, None).schema)]
        arrays = [_columns.array([_field(batch, name) for batch in batches], name) for name in names]
        return arrays[0] if not paths else tuple(arrays)

    # Messages.

    def __iter__(self) -> Iterator[tuple[int, _row.Row]]:
        return self.rows()

    def rows(self, columns: Columns = None, start: Time = None, end: Time = None) -> Iterator[tuple[int, _row.Row]]:
        """Yield the log time, an int of ns since 1970, and the message, a view: `for t, msg in topic`.

        A field is looked up when it is asked for: `msg.angular_velocity.x`, `msg["class"]`. Arrays are numpy arrays,
        bytes memoryviews; both keep their batch of some MB in memory. Large bytes of a recording that is not compressed
        are views of the file, which must not become shorter while they are used.
        """
        readers: list[tuple[Any, _rows.Reader]] = []  # of a schema each, which has no hash in all versions of pyarrow
        for batch in self._batches(self._flags(columns, False, None), start, end, placed=True):
            schema = batch.schema
            reader = next((r for s, r in readers if s is schema or s.equals(schema, check_metadata=True)), None)
            if reader is None:
                reader = _rows.Reader(schema)
                readers.append((schema, reader))
            yield from reader.rows(batch)

    def images(self, start: Time = None, end: Time = None) -> Iterator[Frame]:
        """Yield the pictures as arrays that know their time: `frame.time`, `frame.encoding`, `frame.rgb()`.

        Raw pictures are views, (H, W) or (H, W, C) in the dtype of their encoding; JPEG, PNG and the like are decoded
        by Pillow. A picture whose bytes do not fit its size is left out, with a `Loss` warning.
        """
        need("numpy", "Topic.images")
        from . import _images

        read = _images.reader(self.name, self.type, tuple(self.schema.names))
        return _images.frames(self.rows(None, start, end), self.name, read)

    def points(self, start: Time = None, end: Time = None) -> Iterator[Cloud]:
        """Yield the point clouds as structured arrays with their own fields: `cloud["intensity"]`, `cloud.xyz()`.

        A cloud whose layout does not fit its bytes is left out, with a `Loss` warning.
        """
        need("numpy", "Topic.points")
        from . import _points

        read = _points.reader(self.name, self.type, tuple(self.schema.names))
        return _points.clouds(self.rows(None, start, end), self.name, read)

    # How it is read.

    def _batches(self, flags: list[str], start: Time, end: Time, *, placed: bool = False) -> Iterator[Any]:
        """Yield batches; where bytes may be placed, they stay in a file that can be mapped."""
        if len(self._parts) == 1:
            source, _ = self._parts[0]
            yield from self._from(source, [*flags, *_source.span(start, end), *(source.placed if placed else ())])
            return
        feeds = []
        for source, span in self._span(self._parts, start, end):
            at, select = span

            def begin(source: _source.Source = source, select: list[str] = select) -> Iterator[Any]:
                return self._from(source, [*flags, *select, *(source.placed if placed else ())])

            feeds.append(_merge.Feed(at, begin))
        yield from _merge.batches(feeds)

    def _within(self, flags: list[str], least: int | None, most: int | None) -> Iterator[Any]:
        """Yield batches with log times from least to most; none if the recording has none of these times."""
        spans = [source.span() for source, _ in self._parts]
        if not any(
            a is not None and b is not None and (most is None or a <= most) and (least is None or least <= b)
            for a, b in spans
        ):
            return iter(())
        start = None if least is None else _times.epoch(least)
        end = None if most is None else _times.epoch(most + 1)
        return self._batches(flags, start, end)

    def _from(self, source: _source.Source, flags: list[str]) -> Iterator[Any]:
        """Yield the batches of one recording."""
        wanted: set[int] = set()  # one, unless the topic has several definitions
        waiting: list[tuple[int, Any]] = []
        events = _stream.events(source.child(source.cat(self._select(), flags)))
        try:
            for event in events:
                if event.schema is not None:
                    wanted |= {event.topic} if self._keep(event.schema) else set()
                elif event.batch is None:
                    waiting = yield from _merge.cut(waiting, event.time)
                elif event.topic in wanted:
                    waiting.append((event.topic, event.batch))
            yield from _merge.cut(waiting, None)
        finally:
            events.close()  # type: ignore[attr-defined]

    def _flags(self, columns: Columns, flat: bool, explode: str | None) -> list[str]:
        flags = ["--flat"] if flat else []
        if explode is not None:
            flags.append(f"--explode={explode}")
        if columns is None:
            return flags
        names = [columns] if isinstance(columns, str) else list(columns)
        if any(n.lstrip("_") in _columns.OWN for n in names):
            ours = self.schema.names[: _columns.own(self.schema)]
            names = [n for n in names if n not in ours]
        if not names:
            names = _columns.cheapest(self.schema)
        return [*flags, "--columns=" + ",".join(names)] if names else flags

    def _empty(self, columns: Columns, flat: bool, explode: str | None) -> Any:
        """Return a table without rows."""
        source, _ = self._parts[0]
        child = source.child(source.cat(self._select(), [*self._flags(columns, flat, explode), "--order=file"]))
        return _stream.schema(child).empty_table()


def _field(batch: Any, path: str) -> Any:
    """Return the column of a path, which may be the name of a column of ours."""
    names = batch.schema.names
    head, _, rest = path.partition(".")
    if path in names:
        head, rest = path, ""
    if head not in names:
        raise KeyError(f"{path}: there is no column {head!r}, but {', '.join(names)}")
    return _columns.at(batch.column(names.index(head)), rest.split(".") if rest else [], path)
