"""Catalogue of the programs: kernels with threads like those of SPLASH-2 and PARSEC in the paper.

Ref: SigRace (ISCA'09) Section 5.1, Table 4, and Section 5.4.1 for the races that were left in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from racetrap.golden_model.checks import unknown_name

#: Names of the sizes: about 50 thousand events with 4 threads, and half a million with 8; and with
#: 8 at least ten intervals of a million instructions of the thread that does most.
SIZES = ("tiny", "small", "paper")

_FOLDER = Path(__file__).parent
_MARK = "/* benign race"
_SEED = "7"


@dataclass(frozen=True)
class PthreadProgram:
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
    scales : tuple of int
        Argument that sets the amount of work, for each of ``SIZES``.
    suffix : str
        Suffix of the source: ``".c"`` or ``".cpp"``.
    """

    name: str
    title: str
    kind: str
    scales: tuple[int, int, int]
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
    def benign_lines(self) -> frozenset[str]:
        """Places (``"file.c:12"``) in the source that are marked as parties of benign races.

        A program without marks has no races; races without a mark are errors.
        """
        lines = self.source.read_text(encoding="utf-8").splitlines()
        return frozenset(
            f"{self.source.name}:{number}"
            for number, line in enumerate(lines, start=1)
            if _MARK in line
        )

    def command_line(self, size: str, threads: int) -> tuple[str, ...]:
        """Arguments of a run.

        Raises
        ------
        ValueError
            If the size is unknown.
        """
        if size not in SIZES:
            raise ValueError(unknown_name(f"size of {self.name}", size, SIZES))
        return str(threads), str(self.scales[SIZES.index(size)]), _SEED


_ALL = (
    PthreadProgram("fft", "Six-step fast Fourier transform", "regular", (5, 6, 9)),
    PthreadProgram("lu", "Blocked LU factorisation", "regular", (32, 80, 256)),
    PthreadProgram(
        "cholesky", "Sparse Cholesky factorisation from a task queue", "irregular", (2, 4, 8)
    ),
    PthreadProgram("ocean", "Red-black Gauss-Seidel on a grid", "regular", (20, 64, 400)),
    PthreadProgram("radix", "Radix sort", "irregular", (1500, 16000, 400000)),
    PthreadProgram("barnes", "Gravity by a tree of quadrants", "irregular", (64, 300, 3800)),
    PthreadProgram("water", "Forces between all pairs of molecules", "regular", (48, 160, 800)),
    PthreadProgram(
        "raytrace", "Ray tracing with queues of tiles that threads steal from", "irregular",
        (16, 56, 260),
    ),
    PthreadProgram(
        "streamcluster", "Clustering of a stream of points", "regular", (80, 600, 14000)
    ),
    PthreadProgram("blackscholes", "Prices of options", "regular", (800, 10000, 64000)),
    PthreadProgram(
        "dedup", "Pipeline that stores distinct chunks once", "irregular", (4000, 40000, 400000)
    ),
    PthreadProgram(
        "kvstore", "Store of keys and values with every class of synchronisation", "irregular",
        (4000, 30000, 1200000),
    ),
    PthreadProgram(
        "fluid", "Particles of a fluid in a grid of cells, in C++", "regular", (5, 14, 76), ".cpp"
    ),
)  # fmt: skip

#: In the order of the paper's Table 7, where it has a counterpart.
PROGRAMS: Mapping[str, PthreadProgram] = MappingProxyType({one.name: one for one in _ALL})
