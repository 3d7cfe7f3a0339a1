"""End of a run: errors and signals become one sentence and an exit status."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from types import FrameType
from typing import NoReturn

import click

from racetrap.commands.shared.terminal import ExitStatus, InputError, fail
from racetrap.presenters.printable import printable
from racetrap.sim.descendants import kill_descendants
from racetrap.sim.failure import Failure

#: Signals that stop a command, besides that of Ctrl-C.
_STOPS = (signal.SIGTERM, signal.SIGHUP)
#: Seconds for clean-up after a stop: of any command, of one with a result to write, and of that
#: writing.
_GRACE_SECONDS, _LONG_GRACE_SECONDS, _WRITING_SECONDS = 0.8, 8.0, 60.0
#: Set when a command has a result to write if stopped, while it writes it, and when it has said
#: that it was stopped.
_has_result, _is_writing, _has_said = threading.Event(), threading.Event(), threading.Event()


@contextmanager
def ends() -> Iterator[None]:
    """Turn errors and signals, other than our defects, into a sentence and a status."""
    try:
        yield
        sys.stdout.flush()
    except click.UsageError as error:
        text = error.format_message()
        if isinstance(error, click.NoSuchOption):
            from racetrap.commands.shared.former_names import no_such_option

            text = no_such_option(error)
        raise click.UsageError(printable(text), error.ctx) from None
    except InputError as error:
        fail(error)
    except KeyboardInterrupt as error:
        _has_said.set()
        fail(str(error) or "Interrupted", ExitStatus.INTERRUPTED)
    except Failure as error:
        from racetrap.sim.cosim.comparison.mismatch import Mismatch

        heading = "Hardware and golden model disagree: " * isinstance(error, Mismatch)
        fail(f"{heading}{error}", ExitStatus.FAILED)
    except ModuleNotFoundError as error:
        from racetrap.sim.tools import not_found

        fail(not_found(error.name or str(error)), ExitStatus.FAILED)
    except MemoryError:
        fail("This machine has too little memory for this input", ExitStatus.FAILED)
    except OSError as error:
        if error.errno is None:
            raise
        _fail_to_write(error)


def _fail_to_write(error: OSError) -> NoReturn:
    """End after a system error: a full device, a missing permission, a closed pipe."""
    if error.filename is None:
        # Python flushes its buffer once more at exit.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno in (errno.EPIPE, errno.EBADF):
        fail("Standard output was closed before the end of the result", ExitStatus.NO_OUTPUT)
    place = error.filename or "Output"
    fail(f"{place} cannot be written: {error.strerror}", ExitStatus.NO_OUTPUT)


def open_standard_streams() -> None:
    """Replace each closed standard stream.

    A file opened later would otherwise get its descriptor, and printed text.  Reading and writing
    fail as with a closed descriptor; sentences on standard error are lost.
    """
    for name, descriptor, mode, flags in (
        ("stdin", 0, "r", os.O_WRONLY), ("stdout", 1, "w", os.O_RDONLY),
        ("stderr", 2, "w", os.O_WRONLY),
    ):  # fmt: skip
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, flags)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
            os.set_inheritable(descriptor, True)
            setattr(sys, name, open(descriptor, mode, encoding="utf-8"))  # noqa: SIM115


def crash(error: Exception) -> NoReturn:
    """End after our own defect: print where it is, and how to report it."""
    traceback.print_exception(error)
    fail(
        f"This is a defect of racetrap {version('racetrap')}: please report it with these lines, "
        "the command and the files that it read",
        ExitStatus.CRASHED,
    )


def watch_for_interrupts() -> None:
    """Make Ctrl-C and termination signals end this process and its children within a second, or
    after writing if it calls ``write_before_the_end``.

    The main thread gets ``KeyboardInterrupt`` or ``SystemExit`` and cleans up; a second thread
    kills the other processes, and this one if the main thread does not end.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    for number in _STOPS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _exit)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reader,), daemon=True).start()


def expect_a_result() -> None:
    """From now on, wait for ``write_before_the_end`` if this command is stopped."""
    _has_result.set()


def write_before_the_end() -> None:
    """Let a stopped command write its partial result, within a minute.

    Its child processes must have ended.  A second signal ends it at once.
    """
    _is_writing.set()


def _exit(number: int, _: FrameType | None) -> NoReturn:
    sys.exit(128 + number)


def _watch(reader: int) -> None:
    number = os.read(reader, 1)[0]
    if number not in (signal.SIGINT, *_STOPS):
        return
    # A pool's thread would report that its processes are gone.
    threading.excepthook = lambda args: None
    end = time.monotonic() + (_LONG_GRACE_SECONDS if _has_result.is_set() else _GRACE_SECONDS)
    while time.monotonic() < end and not _is_writing.is_set():
        kill_descendants()  # again: one of them may have started another meanwhile
        _is_writing.wait(_GRACE_SECONDS / 10)
    if _is_writing.is_set():  # a second signal ends the writing, too
        select.select([reader], [], [], _WRITING_SECONDS)
        time.sleep(_GRACE_SECONDS)
    if not _has_said.is_set():
        click.echo("racetrap: Interrupted.", err=True)
    os._exit(128 + number)
