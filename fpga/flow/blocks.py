"""Blocks of a preset: one row each of a cost table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from amaranth.lib import wiring

from racetrap.generators.system import Params
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.rtl.common.registers import RegisterBlock
from racetrap.rtl.common.report_writer import ReportWriter
from racetrap.rtl.noncoherent.bitmap import Bitmap
from racetrap.rtl.noncoherent.interval_cam import IntervalCam
from racetrap.rtl.noncoherent.monitor import Monitor
from racetrap.rtl.noncoherent.registers import compile_registers as noncoherent_registers
from racetrap.rtl.noncoherent.row_splitter import RowSplitter
from racetrap.rtl.noncoherent.system import NoncoherentSystem
from racetrap.rtl.scord.access_buffer import AccessBuffer
from racetrap.rtl.scord.barrier_ids import BarrierIds
from racetrap.rtl.scord.detection_logic import DetectionLogic
from racetrap.rtl.scord.detector_bank import DetectorBank
from racetrap.rtl.scord.fence_file import FenceFile
from racetrap.rtl.scord.hazard_window import HazardWindow
from racetrap.rtl.scord.interleaver import Interleaver
from racetrap.rtl.scord.lock_table import LockTables
from racetrap.rtl.scord.metadata_accessor import MetadataAccessor
from racetrap.rtl.scord.registers import compile_registers as scord_registers
from racetrap.rtl.scord.report_path import ReportPath
from racetrap.rtl.scord.system import ScordSystem
from racetrap.rtl.scord.tracker import Tracker
from racetrap.rtl.sigrace.address_set import AddressSet
from racetrap.rtl.sigrace.compressor import Compressor
from racetrap.rtl.sigrace.conflict_log import ConflictLog
from racetrap.rtl.sigrace.core_state import CoreState
from racetrap.rtl.sigrace.core_to_thread import CoreToThread
from racetrap.rtl.sigrace.core_unit import CoreUnit
from racetrap.rtl.sigrace.decompressor import Decompressor
from racetrap.rtl.sigrace.history_queue import HistoryQueues
from racetrap.rtl.sigrace.intersection import Intersection
from racetrap.rtl.sigrace.rdm import Rdm
from racetrap.rtl.sigrace.registers import compile_registers as sigrace_registers
from racetrap.rtl.sigrace.scanner import Scanner
from racetrap.rtl.sigrace.signature_bank import SignatureBank
from racetrap.rtl.sigrace.system import SigraceSystem
from racetrap.rtl.sigrace.trap_check import TrapCheck

__all__ = ["HardwareBlock", "blocks_of"]


@dataclass(frozen=True)
class HardwareBlock:
    """A part of a system that is synthesised on its own.

    Parameters
    ----------
    name : str
        Name of the row; a part of another block follows that block.
    component : callable
        Makes the block anew.
    count : int
        How many of it the whole system has.
    """

    name: str
    component: Callable[[], wiring.Component]
    count: int


def blocks_of(params: Params) -> list[HardwareBlock]:
    """Blocks of a system, and last the system itself.

    Blocks overlap: a part stands in a row of its own and in that of the block it is part of, so
    rows do not add up.  Trace ports are left out, since a chip has none.
    """
    if isinstance(params, ScordParams):
        return _scord(replace(params, trace_port=False))
    if isinstance(params, NoncoherentParams):
        return _noncoherent(replace(params, trace_port=False))
    return _sigrace(replace(params, trace_port=False))


def _scord(params: ScordParams) -> list[HardwareBlock]:
    sms, banks, ports = params.sm_count, params.banks, params.metadata_ports
    buffers = [HardwareBlock("access_buffer", partial(AccessBuffer, params), sms)]
    return [
        *(buffers if params.access_buffer_depth else []),
        HardwareBlock("tracker", partial(Tracker, params), sms),
        HardwareBlock("lock_tables", partial(LockTables, params), sms),
        HardwareBlock("barrier_ids", partial(BarrierIds, params), sms),
        HardwareBlock("interleaver", partial(Interleaver, params), 1),
        HardwareBlock("detector_bank", partial(DetectorBank, params), ports),
        HardwareBlock("metadata_accessor", partial(MetadataAccessor, params), ports),
        HardwareBlock("hazard_window", partial(HazardWindow, params), ports),
        HardwareBlock("fence_file", partial(FenceFile, params), banks),
        HardwareBlock("detection_logic", partial(DetectionLogic, params), banks),
        HardwareBlock("report_path", partial(ReportPath, params), 1),
        HardwareBlock("registers", partial(RegisterBlock, scord_registers(params)), 1),
        HardwareBlock("system", partial(ScordSystem, params), 1),
    ]


def _sigrace(params: SigraceParams) -> list[HardwareBlock]:
    units = params.cores * params.contexts
    is_hashed = params.form is Form.HASHED
    sets = "signature_bank" if is_hashed else "address_set"
    make_sets = partial(SignatureBank if is_hashed else AddressSet, params)
    return [
        HardwareBlock("core_unit", partial(CoreUnit, params), units),
        HardwareBlock(sets, make_sets, 2 * units),
        HardwareBlock("core_state", partial(CoreState, params), units),
        HardwareBlock("trap_check", partial(TrapCheck, params), units),
        HardwareBlock("compressor", partial(Compressor, params), units),
        HardwareBlock("rdm", partial(Rdm, params), 1),
        HardwareBlock("decompressor", partial(Decompressor, params), 1),
        HardwareBlock("core_to_thread", partial(CoreToThread, params), 1),
        HardwareBlock("history_queues", partial(HistoryQueues, params), 1),
        HardwareBlock("scanner", partial(Scanner, params), 1),
        HardwareBlock("intersection", partial(Intersection, params), 1),
        HardwareBlock("conflict_log", partial(ConflictLog, params), 1),
        HardwareBlock("registers", partial(RegisterBlock, sigrace_registers()), 1),
        HardwareBlock("system", partial(SigraceSystem, params), 1),
    ]


def _noncoherent(params: NoncoherentParams) -> list[HardwareBlock]:
    writer = partial(ReportWriter, params.report_layout, params.address_bits)
    return [
        HardwareBlock("row_splitter", partial(RowSplitter, params), 1),
        HardwareBlock("monitor", partial(Monitor, params), 1),
        HardwareBlock(
            "interval_cam",
            partial(IntervalCam, params),
            len(params.set_names) - bool(params.window_bytes),
        ),
        *([HardwareBlock("bitmap", partial(Bitmap, params), 1)] if params.window_bytes else []),
        HardwareBlock("report_writer", writer, 1),
        HardwareBlock("registers", partial(RegisterBlock, noncoherent_registers()), 1),
        HardwareBlock("system", partial(NoncoherentSystem, params), 1),
    ]
