"""Without pyarrow and numpy: what works, and what is said."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bagconv
from bagconv import MissingDependency
from bagconv._need import need

# A finder in front of all others, which hides packages.
HIDE = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyarrow", "numpy", "polars", "pandas", "PIL"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Hidden())
import bagconv
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(Path(bagconv.__file__).parents[1])}
    return subprocess.run([sys.executable, "-c", HIDE + code], env=env, capture_output=True, text=True, check=False)


def test_import_brings_nothing() -> None:
    code = "print(sorted(m for m in sys.modules if m.partition('.')[0] in ('subprocess', 'pyarrow', 'numpy', 'json')))"
    done = run(code)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_need() -> None:
    assert need("os.path", "a test") is os.path
    code = "bagconv._need.need('pyarrow.ipc', 'Topic.arrow')"
    done = run(f"import bagconv._need\ntry: {code}\nexcept ImportError as e: print(repr(e), e.name)")
    text = "Topic.arrow needs pyarrow, which is not installed: pip install 'bagconv[arrow]'"
    assert done.stdout == f'MissingDependency("{text}") pyarrow\n'
    with pytest.raises(MissingDependency, match=r"^a test needs no_such, .*: pip install no_such$"):
        need("no_such.inner", "a test")


def test_missing_within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that is there and lacks another one is not what is missing."""
    (tmp_path / "half_installed.py").write_text("import no_such_module")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_module") as e:
        need("half_installed", "a test")
    assert not isinstance(e.value, MissingDependency)
