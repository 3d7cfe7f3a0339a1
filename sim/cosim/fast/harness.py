"""A detector's part of the fast co-simulation, besides what all detectors share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from racetrap.sim.cosim.fast.folding import fold_registers
from racetrap.sim.cosim.fast.ports import Instances, Internals, PortGroup
from racetrap.sim.twins import Twin


def folded(verilog: str, params: Any) -> str:
    """Verilog with its registers folded, as every detector's simulates faster."""
    return fold_registers(verilog)


@dataclass(frozen=True)
class Harness:
    """A detector's part of the shared library.

    Parameters
    ----------
    folder : Path
        Folder of the C++ sources; ``shim.cpp`` includes the others.
    ports : callable
        From parameters to the groups of ports that the shim uses.
    constants : callable
        From parameters to the numbers that the shim uses, by name.
    scripts : tuple of str
        Modules in the folder that define ports, constants or rewriting.
    twins : tuple of Twin
        Declarations shared by the shim and Python.
    internals : callable
        From parameters to the registers inside the system that the shim uses.
    instances : callable
        From parameters to the instances inside the system whose memory the shim uses.
    rewrite : callable
        From Verilog and parameters to Verilog with the same behaviour that simulates faster.
    rewrite_least : callable
        Likewise, but only what the shim needs, for any design with these ports.
    shared : tuple of Path
        Further headers that the shim includes.
    counters : str
        Instances, as of ``Internals``, down to the register block whose counters the shim may
        change; empty: none.
    """

    folder: Path
    ports: Callable[[Any], Sequence[PortGroup]]
    constants: Callable[[Any], Mapping[str, int]]
    scripts: tuple[str, ...]
    twins: tuple[Twin, ...]
    internals: Callable[[Any], Sequence[Internals]] = lambda params: ()
    instances: Callable[[Any], Sequence[Instances]] = lambda params: ()
    rewrite: Callable[[str, Any], str] = folded
    rewrite_least: Callable[[str, Any], str] = lambda verilog, params: verilog
    shared: tuple[Path, ...] = ()
    counters: str = ""

    @property
    def sources(self) -> list[Path]:
        """Input files of the library, apart from the generator's."""
        return [*self.native, *(self.folder / name for name in self.scripts)]

    @property
    def native(self) -> list[Path]:
        """C++ sources and headers."""
        own = [*self.folder.glob("*.h"), *self.folder.glob("*.cpp")]
        return sorted([*own, *self.shared])
