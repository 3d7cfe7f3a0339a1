"""Bugs planted in the bus monitor's device: plausible slips that a play at the pins must find."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from racetrap.fpga.boards.planted_bugs import PlantedBug
from racetrap.sim.cosim.verilator.patch import Patch


def _bug(file: str, before: str, after: str) -> PlantedBug:
    return PlantedBug("ice40-hx8k", Patch(file, before, after), "noncoherent-tiny")


PLANTED_BUGS: Mapping[str, PlantedBug] = MappingProxyType({
    "operations-lost-under-back-pressure": _bug(
        "noncoherent/device.py", "        assign_stream(m, system.i_operation, operations)\n",
        "        assign_stream(m, system.i_operation, operations)\n"
        "        m.d.comb += operations.ready.eq(1)\n",
    ),
    "monitor-race-not-lit": _bug("noncoherent/device.py", "race=sink.o_taken", "race=0"),
    "monitor-record-halves-swapped": _bug(
        "boards/report_sink.py", "Cat(word[_DATA_BITS:], beats.o.payload)",
        "Cat(beats.o.payload, word[:-_DATA_BITS])",
    ),
})  # fmt: skip
