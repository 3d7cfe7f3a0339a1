"""ThreadSanitizer, the compiler's own race detector, on programs of the recorder.

Its runtime checks the same instrumented program on a real run, with a vector clock for each thread
and the last few accesses of each word: its reports are races, but it may miss some.  Our
thread_sanitizer_barriers.c makes its barriers exact.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from racetrap.sim.failure import Failure
from racetrap.sim.gnu_tools import run_tool

#: Two places in the sources (``"file.c:12"``), the smaller one first.
LinePair = tuple[str, str]

#: A side of a race whose place ThreadSanitizer no longer has.
FORGOTTEN = "?"

_COMPILE = (
    "-g", "-O2", "-pthread", "-fsanitize=thread", "-Wno-tsan",
    # Otherwise accesses that the compiler expands itself are missed; the recorder does the same.
    "-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset",
    "-fno-tree-loop-distribute-patterns",
)  # fmt: skip
_BARRIERS = Path(__file__).with_name("thread_sanitizer_barriers.c")
_LINK = ("-Wl,--wrap=pthread_barrier_init", "-Wl,--wrap=pthread_barrier_wait")
_OPTIONS = (
    "halt_on_error=0 exitcode=66 atexit_sleep_ms=0 detect_deadlocks=0 report_thread_leaks=0 "
    "suppress_equal_addresses=0 history_size=7"  # the longest history of places
)
_RACES_FOUND = 66
_TIMEOUT = 300
_SHOWN_CHARACTERS = 2000
_ADDR_NO_RANDOMIZE = 0x0040000
_ASK = 0xFFFFFFFF

_REPORT = "WARNING: ThreadSanitizer: data race"
#: First line of each side of a race.
_SIDE = re.compile(r"^  (?:Previous )?(?:atomic )?(?:write|read) of size", re.IGNORECASE)
_FRAME = re.compile(r"^    #\d+ .* (\S+):(\d+)(?::\d+)? \(")


class SanitizerError(Failure):
    """ThreadSanitizer cannot be used; the text is one sentence, then the output of a tool."""


def line_pair(one: str, other: str) -> LinePair:
    """The pair of two places, in either order."""
    return min(one, other), max(one, other)


@contextmanager
def _fixed_addresses() -> Iterator[None]:
    """Disable address randomisation for programs started meanwhile.

    The runtime's shadow memory does not cover the addresses that newer kernels choose.  The setting
    belongs to the running thread and is inherited by programs that it starts.
    """
    libc = ctypes.CDLL(None)
    before = libc.personality(ctypes.c_ulong(_ASK))
    libc.personality(ctypes.c_ulong(before | _ADDR_NO_RANDOMIZE))
    try:
        yield
    finally:
        libc.personality(ctypes.c_ulong(before))


def _compile(
    sources: Sequence[Path], program: Path, include: Sequence[Path], options: Sequence[str]
) -> None:
    failure, barriers = "Program cannot be compiled for ThreadSanitizer", program.with_suffix(".o")
    is_cxx = any(source.suffix != ".c" for source in sources)
    commands = (
        ["gcc", "-c", "-O2", str(_BARRIERS), "-o", str(barriers)],
        [
            "g++" if is_cxx else "gcc", *_COMPILE, *(f"-I{path}" for path in include), *options,
            *map(str, sources), str(barriers), *_LINK, "-lm", "-o", str(program),
        ],
    )  # fmt: skip
    try:
        for command in commands:
            run_tool(command, failure, error=SanitizerError)
    except SanitizerError as error:
        if "tsan" in str(error) and "cannot find" in str(error):
            raise SanitizerError(
                "Library libtsan was not found: install it, for example `apt install libtsan2`"
            ) from None
        raise


def _run(command: Sequence[str]) -> str:
    """Report of ThreadSanitizer on one run."""
    environment = os.environ | {"TSAN_OPTIONS": _OPTIONS}
    with _fixed_addresses():
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
    try:
        report = process.communicate(timeout=_TIMEOUT)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise SanitizerError(
            f"Program must end within {_TIMEOUT} seconds under ThreadSanitizer"
        ) from None
    if "FATAL: ThreadSanitizer" in report:
        raise SanitizerError(f"ThreadSanitizer cannot run here:\n{report[:_SHOWN_CHARACTERS]}")
    if process.returncode not in (0, _RACES_FOUND):
        raise SanitizerError(
            f"Program must return 0 under ThreadSanitizer, not {process.returncode}:\n"
            f"{report[-_SHOWN_CHARACTERS:]}"
        )
    return report


def _place(lines: Sequence[str]) -> str:
    """Place of the innermost frame that is not the runtime's own; ``lines`` follow the side's."""
    for line in lines:
        if not line.startswith("    "):
            break
        frame = _FRAME.match(line)
        if frame and "libsanitizer" not in line:
            return f"{Path(frame[1]).name}:{frame[2]}"
    return FORGOTTEN


def parse_report(text: str) -> frozenset[LinePair]:
    """Pairs of source lines of the data races in what ThreadSanitizer printed."""
    pairs = set()
    for block in text.split("==================\n"):
        if _REPORT not in block:
            continue
        lines = block.splitlines()
        sides = [
            _place(lines[number + 1 :]) for number, line in enumerate(lines) if _SIDE.match(line)
        ]
        if len(sides) == 2:
            pairs.add(line_pair(*sides))
    return frozenset(pairs)


class SanitizedProgram:
    """A program compiled for ThreadSanitizer.

    Parameters
    ----------
    sources : sequence of Path
        C and C++ files.
    folder : Path
        Folder of the program.
    include : sequence of Path
        Folders of header files.
    options : sequence of str
        More options for the compiler.

    Raises
    ------
    SanitizerError
        If compiler or library are missing, or refuse the program.
    """

    def __init__(
        self,
        sources: Sequence[Path],
        folder: Path,
        include: Sequence[Path] = (),
        options: Sequence[str] = (),
    ) -> None:
        self._program = folder / "program"
        _compile(sources, self._program, include, options)

    def races(self, arguments: Sequence[str], runs: int = 3) -> frozenset[LinePair]:
        """Data races that ThreadSanitizer finds, as pairs of source lines.

        Parameters
        ----------
        arguments : sequence of str
            Arguments of the program.
        runs : int
            Number of runs, at least 1; each has its own schedule, and simultaneous accesses may be
            missed.

        Raises
        ------
        ValueError
            If there are no runs.
        SanitizerError
            If the program fails.
        """
        if runs < 1:
            raise ValueError(f"Runs must be at least 1, not {runs}")
        reports = [_run([str(self._program), *arguments]) for _ in range(runs)]
        return frozenset[LinePair]().union(*map(parse_report, reports))


def sanitize(
    sources: Sequence[Path], arguments: Sequence[str], runs: int = 3
) -> frozenset[LinePair]:
    """Compile a program in a folder of its own, and run it; see :class:`SanitizedProgram`."""
    with tempfile.TemporaryDirectory(prefix="racetrap-") as folder:
        return SanitizedProgram(sources, Path(folder)).races(arguments, runs)
