"""The version. ``scripts/dist`` writes this file anew in each wheel; these are its values in the sources.

``RELEASE`` is what the program of the wheel prints as its version, None for a build by hand; ``__version__`` is the
same in Python's spelling (PEP 440).
"""

from __future__ import annotations

__version__ = "0+source"
RELEASE: str | None = None
