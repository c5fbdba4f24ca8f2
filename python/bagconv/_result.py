"""What a run of the program reports, as Python has it.

A result is a dict with the keys of the JSON that docs/json.md describes, at all depths; ``result.sink.path`` is
``result["sink"]["path"]``. Names that dict has itself, such as ``items``, need the brackets. Nanoseconds, which are
text in JSON, are whole numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ._errors import Loss


class Result(dict[str, Any]):
    """A dict whose keys are attributes, too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the result has no {name!r}; it has {', '.join(self)}") from None

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self})


class Report(Result):
    """What ``convert``, ``export``, ``merge``, ``cut`` and ``split`` have done.

    ``status``: ``ok`` or ``lossy``; ``source``, ``sink``: path, format, size in bytes, messages; ``topics``: what
    became of each; ``losses``: what the output does not carry; ``notes``, ``warnings``, ``lost``: docs/json.md.
    """

    def __repr__(self) -> str:
        if "source" not in self:  # of several recordings, or of none
            many = f": {self['inputs']} recordings -> {self['output_dir']}" if "output_dir" in self else ""
            return f"<bagconv.Report {self.get('status')}{many}>"
        a, b = self["source"], self["sink"]
        lost = "".join(f", {x.code}" for x in losses(self))
        return f"<bagconv.Report {self['status']}: {a['path']} -> {b['path']}, {b['messages']} messages{lost}>"


class Verification(Result):
    """How two recordings differ; true if they are equal.

    ``equal``, ``level``, ``a``, ``b``; ``topics`` with the first difference of each; ``extras``; ``exceptions``, which
    are differences by design: docs/json.md.
    """

    def __bool__(self) -> bool:
        return bool(self["equal"])

    def __repr__(self) -> str:
        what = "equal" if self else f"{len(self.different)} topics differ"
        return f"<bagconv.Verification {what}: {self['a']['path']}, {self['b']['path']}>"

    @property
    def different(self) -> list[str]:
        """The names of the topics that differ."""
        return [t["name"] for t in self["topics"] if not t["equal"]]


class Check(Result):
    """What is wrong or odd in a recording; true if there is no finding of the severity of ``fail_on`` or above.

    ``findings``: each with ``severity``, ``code``, ``topic``, ``message``, ``hint``; ``errors``, ``warnings``,
    ``notes``: how many of each; ``topics``, ``timeline``: docs/check.md.
    """

    sound = True

    def __bool__(self) -> bool:
        return self.sound

    def __repr__(self) -> str:
        counts = ", ".join(f"{self[k]} {k}" for k in ("errors", "warnings", "notes"))
        return f"<bagconv.Check {self['path']}: {counts}>"


def parse(text: bytes) -> Any:
    """Return JSON of the program with dicts as Results, and ns as whole numbers. Raises ValueError."""
    return json.loads(text, object_pairs_hook=_result)


def _result(pairs: list[tuple[str, Any]]) -> Result:
    return Result((key, _number(value) if key.endswith("_ns") else value) for key, value in pairs)


def _number(value: Any) -> Any:
    """Nanoseconds as a whole number; a deadline may be ``infinite``."""
    return int(value) if isinstance(value, str) and value.lstrip("-").isdecimal() else value


def losses(report: Mapping[str, Any]) -> list[Loss]:
    """Return what a run has lost: what is no loss by design, damage of the source, and doubtful values."""
    found = []
    path = report.get("path") or (report.get("source") or {}).get("path")
    place = f"{path}: " if path and path != "-" else ""
    for x in report.get("losses", ()):
        if not x["by_design"]:
            where = f"{x['topic']}: " if x["topic"] else ""
            found.append(Loss(where + x["message"], code=x["code"], topic=x["topic"], count=x["count"]))
    for x in report.get("warnings", ()):
        if x["damage"]:
            found.append(Loss(place + x["message"], code=x["code"]))
    for x in report.get("notes", ()):
        if x["warning"]:
            where = f"{x['topic']}: " if x["topic"] else ""
            found.append(Loss(where + x["message"], code=x["code"], topic=x["topic"], count=x.get("count")))
    return found
