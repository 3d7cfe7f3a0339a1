"""Blocks of the bus monitor that are synthesised on their own.

Ref: Young (UBC 2020) Section 3.3.
"""

from __future__ import annotations

from functools import partial

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.common.hardware_block import HardwareBlock
from racetrap.rtl.common.registers import RegisterBlock
from racetrap.rtl.common.report_writer import ReportWriter
from racetrap.rtl.noncoherent.bitmap import Bitmap
from racetrap.rtl.noncoherent.interval_cam import IntervalCam
from racetrap.rtl.noncoherent.monitor import Monitor
from racetrap.rtl.noncoherent.registers import compile_registers
from racetrap.rtl.noncoherent.row_splitter import RowSplitter
from racetrap.rtl.noncoherent.system import NoncoherentSystem


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
        HardwareBlock("system", partial(NoncoherentSystem, params), 1, is_large=True),
    ]
