"""Bugs planted in SigRace's device: plausible slips that a play at the pins must find."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from racetrap.fpga.boards.planted_bugs import PlantedBug
from racetrap.sim.cosim.verilator.patch import Patch


def _bug(before: str, after: str) -> PlantedBug:
    return PlantedBug("ulx3s-85f", Patch("sigrace/device.py", before, after), "sigrace-tiny")


PLANTED_BUGS: Mapping[str, PlantedBug] = MappingProxyType({
    "events-swapped": _bug("system.i_event[unit]", "system.i_event[units - 1 - unit]"),
    "traps-swapped": _bug("link.i_record[unit]", "link.i_record[units - 1 - unit]"),
    "traps-lost-under-back-pressure": _bug(
        "            assign_stream(m, link.i_record[unit], system.o_trap[unit])\n",
        "            assign_stream(m, link.i_record[unit], system.o_trap[unit])\n"
        "            m.d.comb += system.o_trap[unit].ready.eq(1)\n",
    ),
    "rollback-not-lit": _bug("race=system.irq", "race=0"),
})  # fmt: skip
