"""Where the program ``bagconv`` is.

In this order: the environment variable ``BAGCONV``, the file that came with this package's wheel, and ``PATH``. A
program of another version than the package is refused, as its flags and streams may differ; the program of the wheel
needs no check.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from typing import NoReturn

from ._errors import BagconvError
from ._version import RELEASE, __version__

EXE = "bagconv.exe" if os.name == "nt" else "bagconv"

# What ``find`` knows of files: whether one is the program of this version, by path, time and size. A process that was
# forked has a copy, which is as good.
_checked: dict[tuple[str, int, int], None] = {}
_installed: str | None = None


def find() -> str:
    """Return the path of the program, absolute or as ``BAGCONV`` and ``PATH`` have it.

    Raises BagconvError if there is none, or if it is of another version than this package.
    """
    given = os.environ.get("BAGCONV")
    if given:
        path = shutil.which(given)
        if path is None:
            raise BagconvError(f"the environment variable BAGCONV is {given!r}, and there is no such program")
        return _of_this_version(path, "the environment variable BAGCONV names it")
    installed = _wheels()
    if installed is not None:
        return installed
    path = shutil.which(EXE)
    if path is None:
        raise BagconvError(
            "the program bagconv is not on PATH, and this package came without it: "
            "install a wheel of bagconv, which has both, or set the environment variable BAGCONV to its path"
        )
    return _of_this_version(path, "it is the first one on PATH")


def become(args: Sequence[str]) -> NoReturn:
    """Run the program with these arguments in place of this process: same streams, signals and exit status."""
    program = find()
    if os.name != "nt":
        os.execv(program, [program, *args])
    # Windows has no exec that a parent waits for. An interrupt comes to both: the child decides.
    child = subprocess.Popen([program, *args])
    while True:
        try:
            sys.exit(child.wait())
        except KeyboardInterrupt:
            continue


def _wheels() -> str | None:
    """The program that was installed with this package, None if there is none."""
    global _installed
    if _installed is None or not os.path.isfile(_installed):
        _installed = next((p for p in _places() if os.path.isfile(p)), None)
    return _installed


def _places() -> Iterator[str]:
    """Where pip may have put the scripts of this package, the likeliest first."""
    site = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    record = os.path.join(site, f"bagconv-{__version__}.dist-info", "RECORD")
    try:
        with open(record, encoding="utf-8") as lines:
            for line in lines:
                name = line.partition(",")[0]
                if name.endswith("/" + EXE):
                    yield os.path.normpath(os.path.join(site, name))
    except OSError:
        return  # not installed from a wheel: a program beside this Python may be of any version
    yield os.path.join(site, "bin", EXE)  # pip install --target, whose RECORD names another folder
    yield os.path.join(sysconfig.get_path("scripts"), EXE)


def _of_this_version(path: str, why: str) -> str:
    """Return path, if the program is of this package's version."""
    if RELEASE is None:
        return path  # a package from the sources has no version
    try:
        info = os.stat(path)
        key = (path, info.st_mtime_ns, info.st_size)
        if key in _checked:
            return path
        answer = subprocess.run(
            [path, "version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError) as e:
        raise BagconvError(f"{path} does not answer as bagconv does ({why}): {e}") from e
    words = answer.stdout.decode("utf-8", "replace").split()
    version = words[1] if len(words) > 1 and words[0] == "bagconv" else "?"
    if version not in (RELEASE, "(devel)"):  # a build by hand is what its maker says
        here = os.path.dirname(os.path.abspath(__file__))
        raise BagconvError(
            f"{path} is bagconv {version}, and the Python package in {here} is {RELEASE} ({why}): "
            f"install both of one version, such as by a wheel of bagconv, which has both, or set the environment "
            f"variable BAGCONV to a program of version {RELEASE}"
        )
    _checked[key] = None
    return path
