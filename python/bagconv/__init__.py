"""Read and write recordings of ROS 1, ROS 2, MCAP and Apollo: any format, folder, ``https://`` or ``s3://``.

    import bagconv

    rec = bagconv.open("drive.bag")
    rec["/imu/data"].polars()
    bagconv.convert("drive.bag", "drive.mcap")

The work is done by the program ``bagconv``, which the wheel brings; a call starts it as a child process. Nothing else
is required: pyarrow, numpy, polars, pandas and Pillow are imported by the calls that need them. All functions may be
called from several threads, and after a fork.
"""

from __future__ import annotations

import importlib

from ._errors import BagconvError, Loss, MissingDependency
from ._version import __version__

TYPE_CHECKING = False  # without the import of typing, which takes longer than all else here
if TYPE_CHECKING:
    from typing import Any

    from ._binary import find as find
    from ._images import Frame as Frame
    from ._jobs import check as check
    from ._jobs import convert as convert
    from ._jobs import cut as cut
    from ._jobs import export as export
    from ._jobs import lerobot as lerobot
    from ._jobs import lerobot_mapping as lerobot_mapping
    from ._jobs import merge as merge
    from ._jobs import split as split
    from ._jobs import verify as verify
    from ._points import Cloud as Cloud
    from ._recording import Recording as Recording
    from ._recording import open as open
    from ._result import Check as Check
    from ._result import Report as Report
    from ._result import Verification as Verification
    from ._row import Row as Row
    from ._tf import ConnectivityError as ConnectivityError
    from ._tf import ExtrapolationError as ExtrapolationError
    from ._tf import FrameError as FrameError
    from ._tf import Transform as Transform
    from ._tf import TransformError as TransformError
    from ._tf import Transforms as Transforms
    from ._topic import Topic as Topic
    from ._writer import Writer as Writer

# Where the other public names are: they are imported when they are used, so that ``import bagconv`` takes 2 ms.
_LAZY = {
    "Check": "_result",
    "Cloud": "_points",
    "Frame": "_images",
    "Recording": "_recording",
    "Report": "_result",
    "Row": "_row",
    "Topic": "_topic",
    "Verification": "_result",
    "ConnectivityError": "_tf",
    "ExtrapolationError": "_tf",
    "FrameError": "_tf",
    "Transform": "_tf",
    "TransformError": "_tf",
    "Transforms": "_tf",
    "Writer": "_writer",
    "check": "_jobs",
    "convert": "_jobs",
    "cut": "_jobs",
    "export": "_jobs",
    "find": "_binary",
    "lerobot": "_jobs",
    "lerobot_mapping": "_jobs",
    "merge": "_jobs",
    "open": "_recording",
    "split": "_jobs",
    "verify": "_jobs",
}

__all__ = [
    "BagconvError",
    "Check",
    "Cloud",
    "ConnectivityError",
    "ExtrapolationError",
    "Frame",
    "FrameError",
    "Loss",
    "MissingDependency",
    "Recording",
    "Report",
    "Row",
    "Topic",
    "Transform",
    "TransformError",
    "Transforms",
    "Verification",
    "Writer",
    "__version__",
    "check",
    "convert",
    "cut",
    "export",
    "find",
    "lerobot",
    "lerobot_mapping",
    "merge",
    "open",
    "split",
    "verify",
]


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'bagconv' has no attribute {name!r}")
    try:
        value = getattr(importlib.import_module("." + module, __name__), name)
    except ModuleNotFoundError as e:
        from ._need import missing

        raise missing(e, f"bagconv.{name}") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
