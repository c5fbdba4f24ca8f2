"""What docs/python.md, the docstrings and the notebooks show is so."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import json
import pkgutil
import re
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
from conftest import TOP

import bagconv

PAGE = TOP / "docs/python.md"
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NOTEBOOKS = sorted((TOP / "python/examples").glob("*.ipynb"))

MODULES = sorted(m.name for m in pkgutil.iter_modules(bagconv.__path__) if m.name != "__main__")


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str, demo: str, tmp_path: Path) -> None:
    try:
        module = importlib.import_module(f"bagconv.{name}")
    except ModuleNotFoundError as e:
        pytest.skip(f"there is no {e.name}")
    names = {"bagconv": bagconv, "demo": demo, "folder": tmp_path}
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, extraglobs=names):
        if any("bagconv.open(" in e.source for e in test.examples):
            pytest.importorskip("pyarrow")
        runner.run(test)
    assert runner.failures == 0


@pytest.fixture
def drive(tmp_path: Path, demo: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with drive.bag, in which examples run."""
    shutil.copy(demo, tmp_path / "drive.bag")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_page(drive: Path) -> None:
    """The page begins with five lines that work as they are printed, and each example prints what it shows."""
    for package in ("pyarrow", "polars", "pandas"):
        pytest.importorskip(package)
    first, *blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert PAGE.read_text(encoding="utf-8").startswith("# Python\n\n```python\n")
    assert sum(bool(line.strip()) for line in first.splitlines()) == 5
    names: dict[str, Any] = {}
    exec(first, names)
    assert (drive / "drive.mcap").stat().st_size > 10000
    text = "".join(blocks)
    assert text.count(">>> ") > 50
    example = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        runner.run(example)
    assert runner.failures == 0
    assert not seen


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_notebook(path: Path, drive: Path) -> None:
    """All cells of a notebook run, and what the last line of one is can be shown."""
    for package in ("pyarrow", "polars", "pandas"):
        pytest.importorskip(package)
    book = json.loads(path.read_text(encoding="utf-8"))
    cells = ["".join(c["source"]) for c in book["cells"] if c["cell_type"] == "code"]
    assert len(cells) > 3
    names: dict[str, Any] = {}
    for cell in cells:
        *lines, last = cell.rstrip().splitlines()
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                code = compile(last, path.name, "eval")
            except SyntaxError:
                exec(cell, names)
                continue
            exec("\n".join(lines), names)
            shown = eval(code, names)
            assert shown is None or (getattr(shown, "_repr_html_", shown.__repr__)())
