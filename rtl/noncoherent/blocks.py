"""Blocks of the bus monitor that are synthesised on their own.

Ref: Young (UBC 2020) Section 3.3.
"""

from __future__ import annotations

from functools import partial

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.noncoherent.taps.params import (
    TAP_BITS,
    Attribute,
    EngineRegisters,
    Region,
    TapParams,
)
from racetrap.rtl.common.hardware_block import HardwareBlock
from racetrap.rtl.common.registers import RegisterBlock
from racetrap.rtl.common.report_writer import ReportWriter
from racetrap.rtl.noncoherent.bitmap import Bitmap
from racetrap.rtl.noncoherent.interval_cam import IntervalCam
from racetrap.rtl.noncoherent.monitor import Monitor
from racetrap.rtl.noncoherent.registers import compile_registers
from racetrap.rtl.noncoherent.row_splitter import RowSplitter
from racetrap.rtl.noncoherent.system import NoncoherentSystem
from racetrap.rtl.noncoherent.taps.descriptor_tap import DescriptorTap
from racetrap.rtl.noncoherent.taps.rvfi_tap import RvfiTap
from racetrap.rtl.noncoherent.taps.tap_queue import TapQueue

#: A system for taps, which stand before the monitor: one memory, one kind of engine.
_MEMORY = Region(0x8000_0000, 1 << 28, Attribute.CACHED)
_REGISTERS = EngineRegisters(
    source=0x4000_0000, target=0x4000_0004, length=0x4000_0008, rows=0x4000_000C,
    stride=0x4000_0010, start=0x4000_0014, read_mask=1, write_mask=2, status=0x4000_0018,
)  # fmt: skip
#: Operations of a tap in one cycle.
_LANES = 2


def blocks(params: NoncoherentParams) -> list[HardwareBlock]:
    """Blocks of the bus monitor, each followed by its parts; the whole system comes last."""
    writer = partial(ReportWriter, params.report_layout, params.address_bits)
    return [
        HardwareBlock("row_splitter", partial(RowSplitter, params), 1),
        HardwareBlock("monitor", partial(Monitor, params), 1, is_large=True),
        HardwareBlock(
            "interval_cam",
            partial(IntervalCam, params),
            len(params.set_names) - bool(params.window_bytes),
        ),
        *([HardwareBlock("bitmap", partial(Bitmap, params), 1)] if params.window_bytes else []),
        HardwareBlock("report_writer", writer, 1),
        HardwareBlock("registers", partial(RegisterBlock, compile_registers(params)), 1),
        *_taps(params),
        HardwareBlock("system", partial(NoncoherentSystem, params), 1, is_large=True),
    ]


def _taps(params: NoncoherentParams) -> list[HardwareBlock]:
    """The taps of a core and of each engine, and their queue; none for other addresses or tags."""
    if (params.address_bits, params.tag_bits) != (TAP_BITS, TAP_BITS):
        return []
    taps, engines = TapParams(regions=(_MEMORY,), monitor=params), params.engines
    queue = partial(TapQueue, params, _LANES * (1 + engines), taps.depth)
    return [
        HardwareBlock("rvfi_tap", partial(RvfiTap, taps), 1),
        HardwareBlock("descriptor_tap", partial(DescriptorTap, params, _REGISTERS), engines),
        HardwareBlock("tap_queue", queue, 1),
    ]
