"""``python -m bagconv ARGUMENTS`` is ``bagconv ARGUMENTS``."""

from __future__ import annotations

import sys

from ._binary import become
from ._errors import BagconvError

if __name__ == "__main__":
    try:
        become(sys.argv[1:])
    except BagconvError as e:
        sys.exit(f"bagconv: {e}")
