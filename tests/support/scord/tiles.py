"""The tiles of ScoRD, joined by a network with random delays, in the fast co-simulation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.fast.build import FastModel, build_library
from racetrap.sim.cosim.fast.harness import folded
from racetrap.sim.cosim.gpu.sweep import ENGINE
from racetrap.sim.cosim.scord.fast_harness import HARNESS
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support import REPOSITORY

_NETWORK = "tests/support/gpu/delayed_crossbar.py"


@dataclass(frozen=True)
class TileChange:
    """The joined tiles instead of the whole system, which has the same ports.

    Parameters
    ----------
    bug : Patch or None
        Bug that is planted.
    network : str
        Text of the module that has the network.
    """

    bug: Patch | None
    network: str

    def apply(self, folder: Path) -> None:
        """Change a copy of the RTL."""
        crossbar = folder / "gpu" / "crossbar.py"
        crossbar.write_text(f"{self.network}\n\nCrossbar = DelayedCrossbar\n", encoding="utf-8")
        system = folder / "scord" / "system.py"
        with system.open("a", encoding="utf-8") as text:
            text.write("\n\nfrom racetrap.rtl.scord.tiles import ScordTiles\n")
            text.write("ScordSystem = ScordTiles\n")
        if self.bug is not None:
            self.bug.apply(folder)


def build_tiles(preset: str, params: ScordParams, bug: Patch | None = None) -> FastModel:
    """The tiles as a shared library, as ``build_fast`` gives the whole system."""
    engine = ENGINE.replace("bank_{}", "bank_{}.bank")

    def internals(given: ScordParams):
        return [replace(each, path=engine) for each in HARNESS.internals(given)]

    harness = replace(HARNESS, rewrite=lambda verilog, given: folded(verilog, given),
                      internals=internals)  # fmt: skip
    network = (REPOSITORY / _NETWORK).read_text(encoding="utf-8")
    return build_library(preset, params, harness, TileChange(bug, network))
