"""A recording as one line of text, and as a table with a timeline for Jupyter.

Both are made from what ``bagconv info --json`` prints. Names of topics and types come from the recording, so everything
is escaped; there is no script and no address in the HTML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
_ROWS = 200  # topics that are shown
_WIDTH, _HEIGHT = 240, 14  # px of a timeline

_STYLES = {
    "table": "border-collapse: collapse; font-size: 90%",
    "left": "text-align: left; padding: 1px 8px",
    "right": "text-align: right; padding: 1px 8px; font-variant-numeric: tabular-nums",
    "svg": "vertical-align: middle; border-bottom: 1px solid rgba(128, 128, 128, 0.4)",
}


def text(info: Mapping[str, Any]) -> str:
    """Return a line such as ``<bagconv.Recording drive.bag: bag 2.0, 9 topics, 636 messages, 0.998 s>``."""
    return f"<bagconv.Recording {info['path']}: {', '.join(_facts(info))}>"


def html(info: Mapping[str, Any]) -> str:
    """Return HTML: the facts of a recording, and a row for each topic with a timeline, if all messages were read."""
    topics: Sequence[Mapping[str, Any]] = info["topics"]
    timeline: Mapping[str, Any] = info.get("timeline") or {}
    counts: Sequence[Sequence[int]] = timeline.get("counts", ())
    head = ["topic", "type", "messages", "Hz"]
    if counts:
        head.append(f"{_time(info.get('start'))} + {_duration(info.get('duration_ns'))}")
    rows = [_row(t, counts[i] if i < len(counts) else None) for i, t in enumerate(topics[:_ROWS])]
    if len(topics) > _ROWS:
        rows.append(f'<tr><td style="{_STYLES["left"]}">and {len(topics) - _ROWS} topics more</td></tr>')
    titles = "".join(f'<th style="{_STYLES["left"]}">{escape(h)}</th>' for h in head)
    lines = [
        f"<div><b>{escape(str(info['path']))}</b><br>{escape(', '.join(_facts(info)))}",
        *(f"<br>{escape(_warning(w))}" for w in info.get("warnings", ())[:_ROWS]),
        f'<table style="{_STYLES["table"]}"><thead><tr>{titles}</tr></thead>',
        f"<tbody>{''.join(rows)}</tbody></table></div>",
    ]
    return "\n".join(lines)


def escape(text: str) -> str:
    """As html.escape, whose import takes longer than the import of the whole package."""
    return text.translate(_ESCAPES)


def _facts(info: Mapping[str, Any]) -> list[str]:
    """Format, number of topics and messages, duration."""
    about = "about " if info.get("estimated") else ""
    facts = [
        f"{info['format']} {info.get('version') or ''}".strip(),
        f"{len(info['topics'])} topics",
        f"{about}{info['messages']} messages",
    ]
    if info.get("duration_ns") is not None:
        facts.append(_duration(info["duration_ns"]))
    if any(w.get("damage") for w in info.get("warnings", ())):
        facts.append("damaged")
    return facts


def _row(topic: Mapping[str, Any], counts: Sequence[int] | None) -> str:
    hz = topic.get("hz_mean")
    cells = [
        ("left", topic["name"]),
        ("left", topic["type"]),
        ("right", f"{topic['count']:,}" if isinstance(topic.get("count"), int) else ""),
        ("right", f"{hz:.3g}" if isinstance(hz, (int, float)) else ""),
    ]
    row = "".join(f'<td style="{_STYLES[side]}">{escape(str(value))}</td>' for side, value in cells)
    return f"<tr>{row}{'' if counts is None else _timeline(counts)}</tr>"


def _timeline(counts: Sequence[int]) -> str:
    """A cell with a bar for each span of time that has messages: the more, the darker, from a quarter on."""
    most = max(counts, default=0)
    bars = "".join(
        f'<rect x="{i}" width="1" height="1" fill-opacity="{0.25 + 0.75 * n / most:.2f}"/>'
        for i, n in enumerate(counts)
        if n > 0
    )
    return (
        f'<td style="{_STYLES["left"]}"><svg style="{_STYLES["svg"]}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {len(counts)} 1" preserveAspectRatio="none" fill="steelblue">{bars}</svg></td>'
    )


def _warning(warning: Mapping[str, Any]) -> str:
    return f"{warning.get('message', '')} [{warning.get('code', '')}]"


def _time(start: Any) -> str:
    """The start without its fraction: 2023-11-14T22:13:20Z."""
    whole, point, rest = str(start or "").partition(".")
    return whole + ("Z" if point and rest.endswith("Z") else "")


def _duration(ns: Any) -> str:
    seconds = int(ns or 0) / 1e9
    if seconds < 120:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} h" if hours else f"{minutes}:{rest:02} min"
