"""Programs of the suite and their variants, as ``programs.toml`` lists them.

Ref: Bugaroo Tables I and IV; PTX ISA 9.0, Section 8.9.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from pydantic import Field

from racetrap.sim.toml_file import Table, TomlFile, one_of, read_toml

#: Synchronisation that a variant may lack by PTX's memory model.
NEEDS = ("acquire", "release", "store-load")


class Variant(Table):
    """One choice of a program's fences.

    Parameters
    ----------
    name : str
        Its name; with the program's, that of its kernel.
    lacks : frozenset of str
        Synchronisation that it lacks by PTX's memory model, of ``NEEDS``; empty if it is right.
    reason : str
        Why, in one line.
    table : str
        Its row in the paper's Table IV; empty if it has none.
    oracle : str
        Why the exact oracle's verdict differs; empty if it does not.
    """

    name: str
    lacks: Annotated[frozenset[Annotated[str, one_of(NEEDS)]], Field(strict=False)]
    reason: str
    table: str = ""
    oracle: str = ""

    @property
    def what_lacks(self) -> str:
        """What it lacks, in words."""
        return ", ".join(sorted(self.lacks)) or "nothing"

    @property
    def is_racy(self) -> bool:
        """Whether the exact oracle finds a race in it."""
        return bool(self.lacks) != bool(self.oracle)


class Program(Table):
    """A program in all its variants, which have one source and one result.

    Parameters
    ----------
    name : str
        Its name, and that of its source without suffix.
    title : str
        What it does.
    paper : str
        Its name in the Bugaroo paper; empty if it is not there.
    variants : list of Variant
        The variants; the first is right.
    """

    name: str
    title: str
    paper: str = ""
    variants: list[Variant]

    def variant(self, name: str) -> Variant:
        """The variant called ``name``."""
        return next(each for each in self.variants if each.name == name)

    def kernel(self, variant: Variant) -> str:
        """Prefix of the names of a variant's kernels."""
        return f"{self.name}_{variant.name}"


class _Suite(TomlFile):
    programs: list[Program]


#: Every program by name, those of the paper first.
PROGRAMS: Mapping[str, Program] = MappingProxyType({
    program.name: program
    for program in read_toml(Path(__file__).with_suffix(".toml"), _Suite).programs
})  # fmt: skip
