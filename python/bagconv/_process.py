"""Runs the binary: one child for each call, its standard output as a stream, its errors as exceptions.

A child writes into a pipe of 1 MB. Its standard error goes into a temporary file, so that a full
pipe stops nobody and no thread is needed. `Child.finish` waits for the end and turns the exit status
into an exception or a warning; `Child.close` ends a child early. After a fork, the copy of a child
in the new process closes its own end of the pipe and leaves the child alone.

A child is for one thread at a time. Several threads may have a child each.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType, TracebackType
from typing import Any, BinaryIO, Union

from . import _binary, _result
from ._errors import BagconvError, Loss

PIPE = subprocess.PIPE
DEVNULL = subprocess.DEVNULL

_BUFFER = 1 << 20  # bytes of a pipe and of its reader
_SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ of Linux
_PATIENCE = 5.0  # s that a child has to end after it was asked to
_GRACE = 2.0  # s that one has which may have heard of it already
_STDERR = 1 << 20  # bytes of standard error that are kept, the last ones
_SHOWN = 20  # warnings
_CODE = re.compile(r"\[([a-z0-9-]+)\]$")  # of damage, at the end of a line

_HERE = os.path.dirname(__file__)

OK, LOSSY = 0, 3  # exit statuses

File = Union[int, BinaryIO, None]


class Child:
    """A running binary. `stdout` and, with `stdin=PIPE`, `stdin` are buffered binary streams."""

    stdin: BinaryIO | None
    stdout: BinaryIO

    def __init__(
        self,
        args: Sequence[str],
        *,
        stdin: File = DEVNULL,
        stdout: File = PIPE,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()
        self._checked = False
        binary = _binary.find()
        self._errors = tempfile.TemporaryFile(prefix="bagconv-")  # noqa: SIM115
        try:
            with _interrupt_later():
                self._process = subprocess.Popen(
                    [binary, *args],
                    stdin=stdin,
                    stdout=stdout,
                    stderr=self._errors,
                    bufsize=_BUFFER,
                    env=None if env is None else {**os.environ, **env},
                    creationflags=_NO_WINDOW,
                )
        except OSError as e:
            self._errors.close()
            raise BagconvError(f"{binary} cannot be run: {e.strerror or e}") from e
        except BaseException as e:
            if isinstance(e, KeyboardInterrupt):
                self.settle()
            self.close()
            raise
        for pipe in (self._process.stdin, self._process.stdout):
            _widen(pipe)
        self.stdin = self._process.stdin  # type: ignore[assignment]
        self.stdout = self._process.stdout  # type: ignore[assignment]

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if self.__dict__.get("_process") is not None:
            self.close()

    @property
    def pid(self) -> int:
        """The number of the process."""
        assert self._process is not None
        return self._process.pid

    def poll(self) -> int | None:
        """Return the exit status, or None while the child runs."""
        assert self._process is not None
        return self._process.poll()

    def wait(self) -> tuple[int, str]:
        """Wait for the end of a child whose output was read to its end; return exit status and standard error."""
        process = self._process
        assert process is not None
        if self._owner != os.getpid():
            self.close()
            raise BagconvError(
                "a stream that was open before a fork belongs to the process that opened it: read it there"
            )
        self._checked = True
        self._shut()
        status = process.wait()
        text = self._stderr()
        self._errors.close()
        return status, text

    def finish(self, *, report: Mapping[str, Any] | None = None) -> int:
        """Wait for the end of a child whose output was read to its end, and return its exit status.

        Status 3 is a `Loss` warning for each line, at the line of the user's program; any other status
        than 0 raises a `BagconvError`, which has `report`. A second call does nothing.
        """
        if self._checked and self._process is not None and self._owner == os.getpid():
            return self._process.returncode or 0
        status, text = self.wait()
        check(status, text, report=report)
        return status

    def settle(self) -> None:
        """After an interrupt, wait a moment: a child that heard it, too, is cleaning up, and another signal would end
        it at once."""
        if self._process is not None and self._owner == os.getpid():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE)

    def stop(self) -> None:
        """End the child before its input ends, so that it does not take that for the end."""
        process = self._process
        if process is not None and process.returncode is None and self._owner == os.getpid():
            _end(process)

    def close(self) -> None:
        """End the child now, if it still runs, and forget its output. It may be called again."""
        process = self._process
        if process is None:
            return
        self._checked = True
        self._shut()
        if self._owner != os.getpid():
            process.returncode = process.returncode or 0  # it is not ours to wait for
        elif process.returncode is None:
            _end(process)
        self._errors.close()

    def _shut(self) -> None:
        """Close our ends of the pipes."""
        process = self._process
        for pipe in (process.stdin, process.stdout) if process else ():
            if pipe is not None:
                if self._owner != os.getpid():
                    pipe.raw.close()  # type: ignore[attr-defined]  # its buffer belongs to another process
                    continue
                with contextlib.suppress(OSError):  # what is in the buffer of stdin has no reader any more
                    pipe.close()

    def _stderr(self) -> str:
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _STDERR))
        return self._errors.read().decode("utf-8", "replace")


def run(
    args: Sequence[str],
    *,
    stdin: File = DEVNULL,
    env: Mapping[str, str] | None = None,
) -> bytes:
    """Run the binary to its end and return its standard output; errors as in `Child.finish`."""
    with Child(args, stdin=stdin, env=env) as child:
        out = child.stdout.read()
        child.finish(report=report_of(out))
        return out


def run_json(args: Sequence[str], *, env: Mapping[str, str] | None = None) -> Any:
    """Run the binary with arguments that make it print one value of JSON, and return the value."""
    with Child(args, env=env) as child:
        out = child.stdout.read()
        child.finish(report=report_of(out))
    try:
        return json.loads(out)
    except ValueError as e:
        raise BagconvError(f"bagconv {args[0]} printed no JSON: {e}", status=0) from e


def report_of(out: bytes) -> dict[str, Any] | None:
    """Return the object of JSON that output is, or None."""
    if not out.startswith(b"{"):
        return None
    try:
        value = json.loads(out)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def check(status: int, stderr: str, *, report: Mapping[str, Any] | None = None) -> None:
    """Turn an exit status into nothing, a `Loss` warning or a `BagconvError`."""
    if status == OK:
        return
    if status == LOSSY:
        warn(losses(stderr, report))
        return
    raise failure(status, stderr, report)


def failure(status: int, stderr: str, report: Mapping[str, Any] | None = None) -> BagconvError:
    """Return the error of a run that failed."""
    return BagconvError(_message(status, stderr, report), status=status, report=report, stderr=stderr)


def warn(losses: Sequence[Loss]) -> None:
    """Issue warnings, 20 at most, at the line of the user's program."""
    for loss in losses[:_SHOWN]:
        warnings.warn(loss, stacklevel=_users_level())
    if len(losses) > _SHOWN:
        warnings.warn(Loss(f"and {len(losses) - _SHOWN} more"), stacklevel=_users_level())


def _users_level() -> int:
    """Return the stacklevel, for a warning of the caller, of the line outside of this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == _HERE:
        frame, level = frame.f_back, level + 1
    return level


def losses(stderr: str, report: Mapping[str, Any] | None = None) -> list[Loss]:
    """Return a warning for each line that a run with status 3 wrote; if there is none, of what its report has."""
    found = []
    for line in stderr.splitlines():
        if line.strip():
            code = _CODE.search(line)
            found.append(Loss(line, code=code[1] if code else ""))
    return found or _result.losses(report or {}) or [Loss("something is damaged or lost")]


def _message(status: int, stderr: str, report: Mapping[str, Any] | None) -> str:
    """Return the error line of a child."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("bagconv: ")]
    if errors:
        return errors[-1][len("bagconv: ") :]
    if report and report.get("error"):
        return str(report["error"])
    if status < 0:
        return f"bagconv was ended by signal {-status} ({_signal(-status)})"
    if any(line.startswith(("panic: ", "fatal error: ")) for line in lines):
        crash = next(line for line in lines if line.startswith(("panic: ", "fatal error: ")))
        return f"bagconv crashed: {crash}; please report it"
    return lines[-1] if lines else f"bagconv ended with status {status} and no word"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask a child to end, wait, and end it."""
    for stop in (process.terminate, process.kill):
        with contextlib.suppress(OSError):  # it has ended
            stop()
        try:
            process.wait(_PATIENCE)
            return
        except subprocess.TimeoutExpired:
            continue


@contextlib.contextmanager
def _interrupt_later() -> Iterator[None]:
    """Hold an interrupt of the user back, so that no child is started whose process nobody has."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # only the main thread is interrupted
        return
    heard: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: heard.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard:
        before(*heard[0])


def _widen(pipe: Any) -> None:
    """Make a pipe of Linux 1 MB large; what refuses stays as it is."""
    if pipe is None or not sys.platform.startswith("linux"):
        return
    import fcntl

    with contextlib.suppress(OSError):  # a user has 64 MB of pipes
        fcntl.fcntl(pipe.fileno(), _SET_PIPE_SIZE, _BUFFER)


_NO_WINDOW: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)
