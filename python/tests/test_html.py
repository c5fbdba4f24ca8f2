"""What a notebook and a terminal show of a recording."""

from __future__ import annotations

import html
import html.parser
from pathlib import Path
from typing import Any

import pytest

from bagconv import _html, _process


class Reader(html.parser.HTMLParser):
    """Collects texts and tags, and fails if tags are not closed in turn."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def bars(self) -> list[int]:
        """How many spans have messages, for each timeline."""
        found: list[int] = []
        for tag, _ in self.tags:
            if tag == "svg":
                found.append(0)
            elif tag == "rect":
                found[-1] += 1
        return found


def info(path: str, *args: str) -> Any:
    return _process.run_json(["info", "--json", *args, path])


def test_demo(demo: str) -> None:
    facts = info(demo)
    assert _html.text(facts) == f"<bagconv.Recording {demo}: bag 2.0, 9 topics, 636 messages, 0.998 s>"
    page = Reader(_html.html(facts))
    assert "2023-11-14T22:13:20Z + 0.998 s" in page.texts
    assert "/lidar/points" in page.texts
    assert "sensor_msgs/PointCloud2" in page.texts
    assert page.bars() == [sum(n > 0 for n in c) for c in facts["timeline"]["counts"]]
    assert sorted(page.bars())[0] == 1
    opacities = {a["fill-opacity"] for tag, a in page.tags if tag == "rect"}
    assert {"1.00", "0.75"} <= opacities


def test_without_scan(demo: str) -> None:
    page = Reader(_html.html(info(demo, "--scan", "never")))
    assert "/imu/data" in page.texts
    assert page.bars() == []


def test_damaged(demo: str, tmp_path: Path) -> None:
    cut = tmp_path / "cut.bag"
    cut.write_bytes(Path(demo).read_bytes()[:300000])
    with pytest.warns(Warning, match="cut off"):
        facts = info(str(cut))
    assert _html.text(facts).endswith(", damaged>")
    assert any("[truncated]" in t for t in Reader(_html.html(facts)).texts)


def test_hostile() -> None:
    name = "</td><script>alert(1)</script>\"'&"
    topic = {"name": name, "type": name, "count": 1, "hz_mean": None}
    facts = {
        "path": name,
        "format": name,
        "version": name,
        "messages": 1,
        "start": name,
        "duration_ns": "7322000000000",
        "topics": [topic] * 300,
        "timeline": {"counts": [[0, 0]] * 299},
        "warnings": [{"message": name, "code": name, "damage": False}],
    }
    page = Reader(_html.html(facts))
    assert {tag for tag, _ in page.tags} == {"div", "b", "br", "table", "thead", "tr", "th", "tbody", "td", "svg"}
    assert page.texts.count(name) == 401
    assert "and 100 topics more" in page.texts
    assert "2:02:02 h" in _html.text(facts)


def test_escape() -> None:
    every = "".join(map(chr, range(0x3000)))
    assert _html.escape(every) == html.escape(every)


def test_empty() -> None:
    facts = {"path": "a", "format": "mcap", "version": "", "messages": 0, "topics": [], "duration_ns": None}
    assert _html.text(facts) == "<bagconv.Recording a: mcap, 0 topics, 0 messages>"
    Reader(_html.html(facts))
