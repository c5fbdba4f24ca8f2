"""Times as arguments.

In results a time is an int, ns since 1970. As an argument `start` or `end` it may also be what users have at hand:

    int                       ns since 1970, as in results
    float, timedelta          seconds, or the time, after the first message
    str                       as on the command line: "10s", "-30s", "1m30s", "2024-05-01T12:00:00Z", "@1676549454.5"
    datetime with a zone      that moment; a pandas Timestamp keeps its nanoseconds
    numpy.datetime64          that moment, in UTC
"""

from __future__ import annotations

import math
import operator
import re
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    import numpy as np

    Time = Union[int, float, str, datetime, timedelta, np.datetime64, np.timedelta64, None]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
_SECOND = 1_000_000_000


def ns(seconds: float) -> int:
    """Return seconds as ns, exactly as the digits of a float say."""
    if not math.isfinite(seconds):
        raise ValueError(f"{seconds} is not a time")
    whole = math.floor(seconds)
    return whole * _SECOND + round((seconds - whole) * _SECOND)


def duration(value: float | str | timedelta, name: str) -> int:
    """Return a duration above 0, in ns: a number is seconds, a string as on the command line."""
    if isinstance(value, timedelta):
        found = value // _MICROSECOND * 1000
    elif isinstance(value, str):
        found = _span(value.strip(), value)
    else:
        found = ns(float(value))
    if found <= 0:
        raise ValueError(f"{name} is {value!r}: give a duration above 0, such as 0.1 (seconds) or '100ms'")
    return found


def argument(value: Time, name: str) -> str | None:
    """Return a time as the command line takes it, None for None."""
    if value is None:
        return None
    if isinstance(value, str):
        return value
    at, absolute = _moment(value, name)
    if absolute:
        return epoch(at)
    return _text(at) if at >= 0 else "-" + _text(-at)


def resolve(value: Time, name: str, start: int, end: int) -> int | None:
    """Return a time as ns since 1970, for a recording from start to end."""
    if value is None:
        return None
    if not isinstance(value, str):
        at, absolute = _moment(value, name)
        return at if absolute else (start if at >= 0 else end) + at
    text = value.strip()
    if re.match(r"\d{4}-\d\d-\d\d[Tt ]", text):
        return _date(text, value)
    if text.startswith("@"):
        sign = -1 if text[1:2] == "-" else 1
        return sign * _decimal(text[1:].lstrip("-"), value)
    if text.isdigit() and int(text) >= 10**15:
        return int(text)
    if text in ("start", "end"):
        return start if text == "start" else end + 1
    for head, base, sign in (("end-", end, -1), ("-", end, -1), ("start+", start, 1), ("+", start, 1), ("", start, 1)):
        if text.startswith(head):
            return base + sign * _span(text[len(head) :], value)
    raise AssertionError("every text begins with an empty one")


def _moment(value: Time, name: str) -> tuple[int, bool]:
    """Return ns, and whether they count from 1970 or from the first message."""
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"{name} has no time zone: give one, such as datetime(..., tzinfo=timezone.utc)")
        whole = (value - _EPOCH) // _MICROSECOND * 1000
        return int(whole) + getattr(value, "nanosecond", 0), True
    if isinstance(value, timedelta):
        return value // _MICROSECOND * 1000 + getattr(value, "nanoseconds", 0), False
    kind = type(value).__name__
    if kind in ("datetime64", "timedelta64"):
        return int(value.astype(f"{kind}[ns]").astype("int64")), kind == "datetime64"  # type: ignore[union-attr]
    if isinstance(value, float):
        return ns(value), False
    try:
        at = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} is a {kind}: give an int of ns since 1970, a float of seconds, or a string") from None
    if 0 < abs(at) < _SECOND:
        raise ValueError(f"{name}={at} is {at} ns since 1970: for seconds after the first message write {at}.0")
    return at, True


def epoch(at: int) -> str:
    """Return ns since 1970 as the command line takes them."""
    return ("@-" if at < 0 else "@") + _text(abs(at))


def _text(at: int) -> str:
    return f"{at // _SECOND}.{at % _SECOND:09d}"


def _date(text: str, value: str) -> int:
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)", text)
    if match is None:
        raise ValueError(f"{value!r} is not a time of RFC 3339 with a zone, such as 2024-05-01T12:00:00Z")
    zone = "+00:00" if match[4] in "Zz" else match[4]
    whole = datetime.fromisoformat(f"{match[1]}T{match[2]}{zone}")
    return (whole - _EPOCH) // _MICROSECOND * 1000 + int((match[3] or ".0")[1:].ljust(9, "0")[:9])


def _span(text: str, value: str) -> int:
    """Return a duration of the command line, in ns: 10, 10.5s, 1m30s, 00:01:30."""
    clock = re.fullmatch(r"(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)", text)
    if clock:
        return (int(clock[1] or 0) * 3600 + int(clock[2]) * 60) * _SECOND + _decimal(clock[3], value)
    if re.fullmatch(r"\d+(\.\d*)?|\.\d+", text):
        return _decimal(text, value)
    parts = re.findall(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)", text)
    if not parts or "".join(n + unit for n, unit in parts) != text:
        raise ValueError(
            f"{value!r} is not a time: write '10s', '1m30s', '-30s', '2024-05-01T12:00:00Z' or '@1676549454.5'"
        )
    units = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": _SECOND, "m": 60 * _SECOND, "h": 3600 * _SECOND}
    return sum(_decimal(n, value) * units[unit] // _SECOND for n, unit in parts)


def _decimal(text: str, value: str) -> int:
    """Return a decimal number, times 10^9."""
    whole, _, rest = text.partition(".")
    if not (whole + rest).isdigit():
        raise ValueError(f"{value!r} is not a time: write seconds such as 1676549454.5")
    return int(whole or 0) * _SECOND + int(rest.ljust(9, "0")[:9] or 0)
