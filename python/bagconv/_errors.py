"""What can go wrong: errors, and losses, which are warnings."""

from __future__ import annotations

TYPE_CHECKING = False  # without the import of typing
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["BagconvError", "Loss", "MissingDependency"]


class BagconvError(Exception):
    """The program failed, or cannot be found.

    Its text names what is wrong, where, and the next step.

    ``status``: the exit status of the program, None if it did not run (docs/cli.md lists them).
    ``report``: its JSON report with what became of each topic, None if there is none.
    ``stderr``: all that it wrote to standard error, "" if it did not run.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        report: Mapping[str, Any] | None = None,
        stderr: str = "",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.report = report
        self.stderr = stderr

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep what is known when a process pool hands the error on."""
        return _error, (type(self), self.args[0], self.__dict__)


def _error(kind: type[BagconvError], message: str, known: Mapping[str, Any]) -> Any:
    return kind(message, **known)


class MissingDependency(ImportError):
    """A package that this call needs is not installed; the text has the line for pip."""


class Loss(UserWarning):
    """Something was damaged, or could not be converted.

    ``warnings.simplefilter("error", bagconv.Loss)`` makes an exception of it.

    ``code``: what was lost, such as ``fields-dropped`` (docs/json.md lists the codes); ``topic``: "" unless it is about
    one topic; ``count``: how many messages or pieces, None if they are not counted.
    """

    def __init__(self, message: str, *, code: str = "", topic: str = "", count: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.topic = topic
        self.count = count
