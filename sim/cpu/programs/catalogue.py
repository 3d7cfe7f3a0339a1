"""The programs by name: kernels with threads in the spirit of the paper's SPLASH-2 and PARSEC.

Ref: SigRace (ISCA'09) Section 5.1, Table 4, and Section 5.4.1 for the races that were left in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

__all__ = ["PROGRAMS", "SIZES", "ThreadProgram"]

#: Names of the sizes: about 50 thousand events with 4 threads, and half a million with 8.
SIZES = ("tiny", "small")

_FOLDER = Path(__file__).parent
_MARK = "benign race"


@dataclass(frozen=True, kw_only=True)
class ThreadProgram:
    """A program that the recorder compiles and runs.

    Parameters
    ----------
    name : str
        Short name, also that of the source.
    title : str
        What it computes.
    kind : str
        ``"regular"`` if each thread accesses few ranges of memory, ``"irregular"`` if accesses
        are scattered or follow pointers and tasks.
    arguments : mapping of str to tuple of str
        Command line by size, in which ``{threads}`` stands for the number of threads.
    benign_races : tuple of str
        What each kind of race that was left in is, and why it does no harm; a source line of
        one of its two accesses is marked with the words ``benign race``.  All others are errors.
    suffix : str
        Suffix of the source: ``".c"`` or ``".cpp"``.
    """

    name: str
    title: str
    kind: str
    arguments: Mapping[str, tuple[str, ...]]
    benign_races: tuple[str, ...] = ()
    suffix: str = ".c"

    @property
    def source(self) -> Path:
        """Its source."""
        return _FOLDER / (self.name + self.suffix)

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that it is compiled from."""
        return self.source, _FOLDER / "program.h"

    @property
    def marked_lines(self) -> frozenset[str]:
        """Places (``"file.c:12"``) in the source that are marked as parties of benign races."""
        lines = self.source.read_text(encoding="utf-8").splitlines()
        return frozenset(
            f"{self.source.name}:{number}"
            for number, line in enumerate(lines, start=1)
            if f"/* {_MARK}" in line
        )

    def command_line(self, size: str, threads: int) -> tuple[str, ...]:
        """Arguments of a run.

        Raises
        ------
        ValueError
            If the size is unknown.
        """
        if size not in self.arguments:
            known = ", ".join(self.arguments)
            raise ValueError(f"Size of {self.name} must be one of {known}, not {size}")
        return tuple(word.format(threads=threads) for word in self.arguments[size])


def _sizes(tiny: int, small: int) -> Mapping[str, tuple[str, ...]]:
    """Arguments of the sizes: threads, size, seed."""
    sizes = zip(SIZES, (tiny, small), strict=True)
    return MappingProxyType({size: ("{threads}", str(number), "7") for size, number in sizes})


_ALL = (
    ThreadProgram(
        name="fft",
        title="Six-step fast Fourier transform",
        kind="regular",
        arguments=_sizes(5, 6),
    ),
    ThreadProgram(
        name="lu",
        title="Blocked LU factorisation",
        kind="regular",
        arguments=_sizes(32, 80),
    ),
    ThreadProgram(
        name="cholesky",
        title="Sparse Cholesky factorisation from a task queue",
        kind="irregular",
        arguments=_sizes(2, 4),
        benign_races=("number of columns taken, looked at before the queue's lock is taken",),
    ),
    ThreadProgram(
        name="ocean",
        title="Red-black Gauss-Seidel on a grid",
        kind="regular",
        arguments=_sizes(20, 64),
        benign_races=("largest change of a sweep, looked at before its lock is taken",),
    ),
    ThreadProgram(
        name="radix",
        title="Radix sort",
        kind="irregular",
        arguments=_sizes(1500, 16000),
    ),
    ThreadProgram(
        name="barnes",
        title="Gravity by a tree of quadrants",
        kind="irregular",
        arguments=_sizes(64, 300),
        benign_races=(
            "links of the tree, read without a lock on the way down, and again under it",
            "place of a cell found through such a link; it was filled before it was linked",
        ),
    ),
    ThreadProgram(
        name="water",
        title="Forces between all pairs of molecules",
        kind="regular",
        arguments=_sizes(48, 160),
    ),
    ThreadProgram(
        name="raytrace",
        title="Ray tracing with queues of tiles that threads steal from",
        kind="irregular",
        arguments=_sizes(16, 56),
        benign_races=(
            "length of a queue, looked at before its lock is taken",
            "count of rays, a statistic that may lose some",
        ),
    ),
    ThreadProgram(
        name="streamcluster",
        title="Clustering of a stream of points",
        kind="regular",
        arguments=_sizes(80, 600),
        benign_races=("marks of centres in use, which all threads only set to 1",),
    ),
    ThreadProgram(
        name="blackscholes",
        title="Prices of options",
        kind="regular",
        arguments=_sizes(800, 10000),
    ),
    ThreadProgram(
        name="dedup",
        title="Pipeline that stores distinct chunks once",
        kind="irregular",
        arguments=_sizes(4000, 40000),
    ),
    ThreadProgram(
        name="kvstore",
        title="Store of keys and values with every class of synchronisation",
        kind="irregular",
        arguments=_sizes(4000, 30000),
    ),
    ThreadProgram(
        name="fluid",
        title="Particles of a fluid in a grid of cells, in C++",
        kind="regular",
        arguments=_sizes(5, 14),
        suffix=".cpp",
    ),
)

#: In the order of the paper's Table 7, as far as a program is there.
PROGRAMS: Mapping[str, ThreadProgram] = MappingProxyType(
    {program.name: program for program in _ALL}
)
