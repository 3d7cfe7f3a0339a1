"""Benchmarks of BARRACUDA's evaluation, as ``benchmarks.toml`` lists them.

Ref: BARRACUDA (PLDI'17) Section 5 and Table 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from pydantic import model_validator

from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
from racetrap.sim.toml_file import Table, TomlFile, one_of, read_toml

_SPACES = ("", "global", "shared")


class Published(Table):
    """Figures of the paper.

    Parameters
    ----------
    instructions : int
        Static PTX instructions.
    threads : int
        Threads of the largest kernel.
    megabytes : int
        Global memory.
    races : int
        Races found.
    space : str
        Memory in which they are; empty if there are none.
    """

    instructions: int
    threads: int
    megabytes: int
    races: int = 0
    space: Annotated[str, one_of(_SPACES)] = ""


class Benchmark(Table):
    """A benchmark, and the program that stands in for it.

    Parameters
    ----------
    name : str
        Its name in the paper; with its suite where two have one name.
    paper : Published
        The paper's figures.
    source : str
        Miniature of its structure, a file of this folder without suffix; or empty.
    driver, header : str
        Driver over CUB, and the header that it needs; or empty.
    difference : str
        Why our races are not the paper's; empty if they are.
    """

    name: str
    paper: Published
    source: str = ""
    driver: str = ""
    header: str = ""
    difference: str = ""

    @model_validator(mode="after")
    def _check_program(self) -> Benchmark:
        if bool(self.source) == bool(self.driver) or bool(self.driver) != bool(self.header):
            raise ValueError("a source, or a driver with a header")
        return self

    @property
    def path(self) -> Path:
        """CUDA source of the program."""
        folder = Path(__file__).parent
        if self.source:
            return folder / f"{self.source}.cu"
        return folder.parent / "cccl" / f"{self.driver.partition('_')[0]}.cu"

    @property
    def options(self) -> CompilerOptions:
        """How it is compiled."""
        if self.source:
            return CompilerOptions()
        return CompilerOptions((f"-DDRIVER_{self.driver}", f"-DHEADER=<{self.header}>"))

    @property
    def stands_in(self) -> str:
        """What the program is."""
        return "miniature" if self.source else "CUB of CCCL"


class _Suite(TomlFile):
    benchmarks: list[Benchmark]


#: Every benchmark by name, in the paper's order.
BENCHMARKS: Mapping[str, Benchmark] = MappingProxyType({
    each.name: each for each in read_toml(Path(__file__).with_suffix(".toml"), _Suite).benchmarks
})  # fmt: skip
