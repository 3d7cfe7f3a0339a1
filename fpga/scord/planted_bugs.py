"""Bugs planted in ScoRD's devices: plausible slips that a play at the pins must find."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from racetrap.fpga.boards.planted_bugs import PlantedBug
from racetrap.sim.cosim.verilator.patch import Patch


def _bug(board: str, file: str, before: str, after: str) -> PlantedBug:
    return PlantedBug(board, Patch(file, before, after), "scord-local")


PLANTED_BUGS: Mapping[str, PlantedBug] = MappingProxyType({
    # Core
    "drops-not-counted": _bug(
        "ice40-hx8k", "scord/core_device.py",
        "bank.o_count[0].reports_dropped),\n            dropped.clear",
        "0),\n            dropped.clear",
    ),
    "launch-clears-nothing": _bug(
        "ice40-hx8k", "scord/core_device.py", "bank.i_clear.eq(clear)", "bank.i_clear.eq(0)"
    ),
    "drops-not-lit": _bug(
        "ice40-hx8k", "scord/core_device.py", "error=bank.o_count[0].reports_dropped", "error=0"
    ),
    # Whole system
    "transactions-doubled": _bug(
        "ulx3s-85f", "scord/device.py", "            assign_stream(m, transaction, record)\n",
        "            from amaranth.hdl import Signal\n"
        "            again = Signal()\n"
        "            assign_stream(m, transaction, record)\n"
        "            m.d.comb += record.ready.eq(transaction.ready & again)\n"
        "            m.d.sync += again.eq(again ^ (record.valid & transaction.ready))\n",
    ),
    "record-halves-swapped": _bug(
        "ulx3s-85f", "boards/report_sink.py", "Cat(word[_DATA_BITS:], beats.o.payload)",
        "Cat(beats.o.payload, word[:-_DATA_BITS])",
    ),
    "record-lost-under-back-pressure": _bug(
        "ulx3s-85f", "boards/report_sink.py", "is_whole & record.i.ready", "is_whole"
    ),
    "beats-lost-under-back-pressure": _bug(
        "ulx3s-85f", "boards/report_sink.py", "axi.wready.eq(beats.i.ready & is_open)",
        "axi.wready.eq(is_open)",
    ),
    "channels-swapped": _bug(
        "ulx3s-85f", "scord/device.py", "zip(link.o_record, system.i_transaction, strict=True)",
        "zip(link.o_record, reversed(system.i_transaction), strict=True)",
    ),
})  # fmt: skip
