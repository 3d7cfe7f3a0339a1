"""A cost table as a run would make it, with figures that are easy to recognise."""

from functools import cache

from racetrap.fpga.cost.explain import compare, explain_state
from racetrap.fpga.cost.table import BlockRow, Cost, CostTable
from racetrap.fpga.flow.place_and_route import PlacedBlock
from racetrap.fpga.flow.synthesis import Synthesis
from racetrap.generators.presets import PRESETS
from racetrap.generators.state import state_parts
from racetrap.generators.structure import StateBits


def synthesis(**changed):
    values = {
        "cells": {"LUT4": 1234}, "lut": 1234, "ff": 77, "block_ram": 3, "dsp": 0, "depth": 9,
        "area_um2": None, "gate_equivalents": None, "seconds": 1.0, "versions": {"yosys": "1"},
    }  # fmt: skip
    return Synthesis(**values | changed)


def placement(seed, fmax_mhz):
    return PlacedBlock(
        seed=seed, fmax_mhz=fmax_mhz, utilization={"TRELLIS_COMB": 5},
        critical_path=[f"path of seed {seed}"], constraint_mhz=100.0, device="device A",
        seconds=2.0,
    )  # fmt: skip


@cache
def cost_table():
    """The bank measured on an FPGA with three seeds and as cells; the tracker failed."""
    params = PRESETS["scord-tiny"].params
    parts = tuple(state_parts(params))
    clocks = ((1, 90.0), (2, 120.0), (3, 100.0))
    placed = Cost(
        "device A", {"yosys": "1"}, synthesis(), tuple(placement(*each) for each in clocks)
    )
    figures = synthesis(lut=0, block_ram=2, area_um2=4321.6, gate_equivalents=1151.3)
    area = Cost("library", {"yosys": "2"}, figures)
    rows = (
        BlockRow("bank", 1, StateBits(70, 500), {"ecp5": placed, "asic": area}),
        BlockRow("tracker", 2, StateBits(8, 0),
            {"ecp5": Cost("device A", problem="Memory m must be kept, not lost")}),
    )  # fmt: skip
    explanation = tuple(explain_state(parts))
    return CostTable("scord-tiny", (), parts, tuple(compare(params)), explanation, rows)
