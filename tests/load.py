"""Time and memory of the commands that a user calls most, and of large traces.

``python -m tests.load`` runs each in a process of its own and prints a table of each kind.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from rich.console import Console

from racetrap.evaluation.processes import processes
from racetrap.golden_model.events import WARP_SIZE, DataRegion, EventKind, Geometry, TraceHeader
from racetrap.golden_model.trace import Trace
from racetrap.golden_model.trace.gpu.schema import EVENT_DTYPE, LANE_DTYPE
from racetrap.presenters.tables import print_table
from tests.support import REPOSITORY

_EXAMPLES = REPOSITORY / "docs" / "examples"
_GPU, _THREADS = _EXAMPLES / "block-fence.trace", _EXAMPLES / "unlocked-sum.trace"
#: Commands that neither build nor simulate, and then those that do, each with its exit status.
COMMANDS: Sequence[tuple[Sequence[str | Path], int]] = (
    (["--version"], 0),
    (["--help"], 0),
    (["check", "--help"], 0),
    (["doctor"], 0),
    (["presets"], 0),
    (["presets", "scord"], 0),
    (["presets", "sigrace"], 0),
    (["check", _GPU], 1),
    (["check", _GPU, "--json", "check.json"], 1),
    (["check", _GPU, "--output", "check.html"], 1),
    (["check", _GPU, "--oracle", "none"], 1),
    (["check", _THREADS], 1),
    (["check", _EXAMPLES / "handover.ptx", "--launch", _EXAMPLES / "handover.toml"], 1),
    (["trace", "info", _GPU], 0),
    (["trace", "convert", _GPU, "copy.trace"], 0),
    (
        [
            "trace",
            "capture",
            _EXAMPLES / "handover.ptx",
            "--launch",
            _EXAMPLES / "handover.toml",
            "--output",
            "handover.trace",
        ],
        0,
    ),
    (["litmus", _EXAMPLES / "litmus" / "MP+rel+acq.litmus"], 0),
    (["cache", "info"], 0),
    (["fpga", "boards"], 0),
    (["cost", "scord-tiny", "--block", "barrier_ids", "--seeds", "0"], 0),
    (["generate", "scord-tiny", "--output", "rtl"], 0),
    (["simulate", "scord-tiny", _GPU], 1),
    (["run", _EXAMPLES / "increments.cu", "--", "1"], 0),
    (["run", _EXAMPLES / "increments.cu", "--", "1001"], 0),
)

_HEADER = TraceHeader(geometry=Geometry(2, 1, 1), region=DataRegion(0x1000_0000, 28))


class _Cost(NamedTuple):
    seconds: float
    cpu_seconds: float
    megabytes: float


def _run(command: Sequence[str | Path], expected: int, folder: Path) -> _Cost:
    """Run a command in a folder: wall-clock and CPU time, and most memory of its process."""
    start = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "racetrap", *map(str, command)], cwd=folder,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr
    said = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    if (code := os.waitstatus_to_exitcode(status)) != expected:
        raise SystemExit(f"{command} must end with {expected}, not {code}:\n{said[-2000:]}")
    seconds = time.monotonic() - start
    return _Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000)


def _spread(events: int) -> Trace:
    """Accesses of one lane each, all of different words."""
    return _two_blocks(events // 2, lanes=1, words=events // 2, apart=events // 2)


def _racy(races: int) -> Trace:
    """Words that one block stores and another loads, again and again, with nothing between."""
    return _two_blocks(races // 2 // WARP_SIZE, lanes=WARP_SIZE, words=1 << 10, apart=0)


def _race_free(races: int) -> Trace:
    """As many accesses as a racy trace, of each block's own words."""
    return _two_blocks(races // 2 // WARP_SIZE, lanes=WARP_SIZE, words=1 << 10, apart=1 << 10)


def _two_blocks(pairs: int, lanes: int, words: int, apart: int) -> Trace:
    """Stores of one block and loads of another in turn, the loads so many words apart."""
    records = np.zeros(2 * pairs + 6, dtype=EVENT_DTYPE)
    accesses, ends = records[3:-3], records[-3:]
    records["kind"][:3] = EventKind.KERNEL_BEGIN, EventKind.BLOCK_PLACED, EventKind.BLOCK_PLACED
    ends["kind"] = EventKind.BLOCK_RETIRED, EventKind.BLOCK_RETIRED, EventKind.KERNEL_END
    records["warp_count"][1:3] = 1
    records["sm"][2] = records["grid_block"][2] = ends["sm"][1] = 1
    accesses["kind"] = np.tile([EventKind.STORE, EventKind.LOAD], pairs)
    accesses["sm"], accesses["pc"] = np.tile([0, 1], pairs), np.tile([0x40, 0x48], pairs)
    accesses["mask"], accesses["size"] = (1 << lanes) - 1, 4
    accesses["first_lane"], ends["first_lane"] = lanes * np.arange(2 * pairs), 2 * pairs * lanes
    word = np.arange(pairs * lanes, dtype=np.uint64).reshape(pairs, 1, lanes) % words
    active = np.zeros(2 * pairs * lanes, dtype=LANE_DTYPE)
    active["address"] = 0x1000_0000 + 4 * np.concatenate([word, word + apart], axis=1).ravel()
    return Trace(_HEADER, records, active)


def _write(path: Path, make: Callable[..., Trace], *sizes: int) -> int:
    """Write a trace in another process: the most memory of this one counts for its children."""
    with processes(1) as pool:
        return pool.submit(_write_here, path, make, sizes).result()


def _write_here(path: Path, make: Callable[..., Trace], sizes: Sequence[int]) -> int:
    trace = make(*sizes)
    trace.write_binary(path)
    return len(trace)


def _commands(console: Console, folder: Path) -> None:
    rows = []
    for command, expected in COMMANDS:
        costs = [_run(command, expected, folder) for _ in range(3)]
        words = " ".join(Path(word).name for word in command)
        least = min(costs[1:])
        times = costs[0].seconds, least.seconds, least.cpu_seconds
        rows.append((words, *(f"{each:.2f}" for each in times)))
    print_table(console, "Commands", ("command", "first, s", "again, s", "CPU, s"), rows)


def _large(console: Console, folder: Path) -> None:
    path = folder / "large.trace"
    check = ["check", path, "--limit", "all", "--json", "check.json"]
    rows = []
    for make, sizes, commands in (
        (
            _spread,
            (10**5, 10**6, 10**7),
            {"info": (["trace", "info", path], 0), "check": (check, 0)},
        ),
        (_racy, (10**4, 10**5, 10**6), {"check": (check, 1)}),
        (_race_free, (10**4, 10**5, 10**6), {"check": (check, 0)}),
    ):
        for size in sizes:
            events = _write(path, make, size)
            for name, (command, expected) in commands.items():
                cost = _run(command, expected, folder)
                races = size if make is _racy else 0
                rows.append((name, events, races, f"{cost.seconds:.1f}", f"{cost.megabytes:.0f}"))
    print_table(console, "Large traces", ("command", "events", "races", "s", "MB"), rows)


def main() -> None:
    """Print what the commands take."""
    console = Console()
    with TemporaryDirectory() as name:
        _commands(console, Path(name))
        _large(console, Path(name))


if __name__ == "__main__":
    main()
