"""Readers of the files that users write: each with files that are right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from racetrap.evaluation.campaign.coverage_report import merge_files
from racetrap.evaluation.fuzzing import corpus
from racetrap.evaluation.sweep.grid import points_of
from racetrap.evaluation.sweep.spec import read_spec
from racetrap.golden_model.trace import read_trace
from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.launch.capture import capture
from racetrap.sim.gpu.launch.kernel_source import read_kernel_file
from racetrap.sim.gpu.launch.launch_file import read_launch

#: Errors that say what is wrong with a file.
REFUSALS = (ValueError, OSError, ExecutionError)


@dataclass(frozen=True)
class Reader:
    """A reader under test.

    Parameters
    ----------
    name : str
        Its name.
    suffix : str
        End of its files' names.
    corpus : callable
        Gives files that it reads without an error.
    read : callable
        Reads any file to the point where a command has its whole contents.
    """

    name: str
    suffix: str
    corpus: Callable[[], Sequence[bytes]]
    read: Callable[[Path], object]


def _with_other(path: Path, name: str, data: bytes) -> Path:
    other = path.with_name(name)
    if not other.exists():
        other.write_bytes(data)
    return other


def _run_kernel(path: Path) -> None:
    """Run a kernel as a launch file that is right says."""
    launch = read_launch(_with_other(path, "launch.toml", corpus.right_file("launch.toml")))
    capture(read_kernel_file(path), launch)


def _run_launch(path: Path) -> None:
    """Run a kernel that is right as a launch file says."""
    launch = read_launch(path)
    kernel = _with_other(path, "kernel.ptx", corpus.right_file("kernel.ptx"))
    capture(read_kernel_file(kernel), launch)


def _read_array(path: Path) -> None:
    """Read an array file that a launch file names."""
    text = corpus.right_file("launch.toml").replace(b'"zeros"', f'"{path.name}"'.encode())
    _run_launch(_with_other(path, "launch.toml", text))


_ALL = (
    Reader("gpu-trace", ".trace", lambda: [corpus.right_file("gpu.trace")], read_trace),
    Reader("gpu-trace-binary", ".trace", lambda: corpus.binary_form("gpu.trace"), read_trace),
    Reader("thread-trace", ".trace", lambda: [corpus.right_file("thread.trace")], read_trace),
    Reader("thread-trace-binary", ".trace", lambda: corpus.binary_form("thread.trace"), read_trace),
    Reader("ptx", ".ptx", corpus.kernels, read_kernel_file),
    Reader("kernel", ".ptx", lambda: [corpus.right_file("kernel.ptx")], _run_kernel),
    Reader("launch", ".toml", lambda: [corpus.right_file("launch.toml")], _run_launch),
    Reader("array", ".npy", lambda: [corpus.array()], _read_array),
    Reader("sweep", ".toml", corpus.sweeps, lambda path: points_of(read_spec(path))),
    Reader("coverage", ".json", lambda: corpus.coverage_files()[:1], lambda p: merge_files([p])),
    Reader("notes", ".jsonl", lambda: corpus.coverage_files()[1:], lambda p: merge_files([p])),
)
#: All of them by name.
READERS = {reader.name: reader for reader in _ALL}
