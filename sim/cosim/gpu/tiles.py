"""Verilated shared library of a few tiles of a GPU detector.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from racetrap.generators.systems import system_of
from racetrap.golden_model.gpu.params import GpuParams
from racetrap.sim.cosim.fast.build import FastModel, build_library
from racetrap.sim.cosim.fast.harness import folded
from racetrap.sim.cosim.fast.ports import Internals
from racetrap.sim.cosim.gpu.tile_places import TilePlaces
from racetrap.sim.cosim.verilator.build_cache import FEW_TILES
from racetrap.sim.cosim.verilator.patch import Patch

#: What makes the Verilog of a few tiles, besides the detector's own module.
_SCRIPTS = ("tile_places.py", "delayed_crossbar.py")

P = TypeVar("P", bound=GpuParams)


def build_tiles(preset: str, params: P, patch: Patch | None = None) -> FastModel[P]:
    """A few SM units and slice units of a detector, joined by a network with random delays.

    Ports, registers and widths are those of the whole system; where ports belong to a tile that is
    not there, nothing happens.  Parameters, result and errors as for ``build_fast``.
    """
    system, places = system_of(params), TilePlaces(params)
    harness = system.own("sim.cosim", "fast_harness").HARNESS
    top = system.own("sim.cosim", "few_tiles")

    def internals(given: P) -> Sequence[Internals]:
        return [
            replace(each, path=each.path.replace("bank_{}", "bank_{}.bank"), there=places.ports)
            for each in harness.internals(given)
        ]

    scripts = (
        *harness.scripts, __file__, str(top.__file__),
        *(str(Path(__file__).with_name(name)) for name in _SCRIPTS),
    )  # fmt: skip
    own = replace(harness, scripts=scripts, rewrite=folded, internals=internals)
    model = build_library(preset, params, own, patch, part=FEW_TILES)
    return replace(model, places=places)
