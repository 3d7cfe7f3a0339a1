"""Times of the commands that a user calls most, each in a process of its own.

``python -m racetrap.evaluation.throughput.commands EXAMPLES`` prints the least wall-clock and CPU
time of three calls of each, after one that fills the cache; ``EXAMPLES`` is ``docs/examples`` of a
checkout.  ``PYTHONPATH`` names another state of the sources to measure.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

_CALLS = 3
#: Arguments of each command; words in braces are files.
COMMANDS: Mapping[str, str] = {
    "version": "--version",
    "help": "--help",
    "help of a command": "check --help",
    "presets": "presets",
    "a preset of ScoRD": "presets scord",
    "a preset of SigRace": "presets sigrace",
    "doctor": "doctor",
    "check a trace of a GPU": "check {examples}/block-fence.trace",
    "check with JSON": "check {examples}/block-fence.trace --json {out}/races.json",
    "check a kernel": "check {examples}/handover.ptx --launch {examples}/handover.toml",
    "check with the oracle":
        "check {examples}/handover.ptx --launch {examples}/handover.toml --oracle=scoped",
    "check a trace of threads": "check {examples}/unlocked-sum.trace",
    "check a race-free program": "check {examples}/locked-sum.trace",
    "trace info": "trace info {examples}/unlocked-sum.trace",
    "trace convert": "trace convert {examples}/unlocked-sum.trace {out}/sum.binary",
    "trace capture":
        "trace capture {examples}/handover.ptx --launch {examples}/handover.toml -o {out}/h.trace",
    "litmus": "litmus {examples}/litmus/Bar+none.litmus",
    "boards": "fpga boards",
    "cost, measured before": "cost scord-tiny --seeds 0 --block barrier_ids",
    "generate": "generate scord-tiny -o {out}/generated",
    "run a CUDA program": "run {examples}/increments.cu -- 1",
    "run 1001 launches of it": "run {examples}/increments.cu -- 1001",
    "simulate, built before": "simulate scord-tiny {examples}/block-fence.trace",
}  # fmt: skip


def times_of(arguments: Sequence[str], folder: Path) -> tuple[float, float]:
    """Least wall-clock and CPU seconds of a call of racetrap in ``folder``."""
    times = [_call(arguments, folder) for _ in range(1 + _CALLS)][1:]
    return min(wall for wall, _ in times), min(cpu for _, cpu in times)


def _call(arguments: Sequence[str], folder: Path) -> tuple[float, float]:
    program = "from racetrap.cli import main; main()"
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments], cwd=folder,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise RuntimeError(f"Command {' '.join(arguments)} must succeed, not say {said.decode()}")
    return time.perf_counter() - started, used.ru_utime + used.ru_stime


def _lines(examples: Path) -> Iterator[str]:
    with TemporaryDirectory() as folder:
        for name, words in COMMANDS.items():
            arguments = [each.format(examples=examples, out=folder) for each in words.split()]
            wall, cpu = times_of(arguments, Path(folder))
            yield f"{name:28} {wall:6.2f} s {cpu:6.2f} s of CPU"


if __name__ == "__main__":
    for line in _lines(Path(sys.argv[1]).resolve()):
        print(line, flush=True)
