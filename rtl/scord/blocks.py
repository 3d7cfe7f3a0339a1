"""Blocks of ScoRD that are synthesised on their own.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from functools import partial

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.hardware_block import HardwareBlock
from racetrap.rtl.common.registers import RegisterBlock
from racetrap.rtl.gpu.hazard_window import HazardWindow
from racetrap.rtl.gpu.metadata_accessor import MetadataAccessor
from racetrap.rtl.gpu.report_path import ReportPath
from racetrap.rtl.scord.access_buffer import AccessBuffer
from racetrap.rtl.scord.barrier_ids import BarrierIds, Generations
from racetrap.rtl.scord.detection_logic import DetectionLogic
from racetrap.rtl.scord.detector_bank import DetectorBank
from racetrap.rtl.scord.fence_file import FenceFile
from racetrap.rtl.scord.interleaver import Interleaver
from racetrap.rtl.scord.lock_table import LockTables
from racetrap.rtl.scord.registers import compile_registers
from racetrap.rtl.scord.system import ScordSystem
from racetrap.rtl.scord.tracker import Tracker


def blocks(params: ScordParams) -> list[HardwareBlock]:
    """Blocks of ScoRD, each followed by its parts; the whole system comes last."""
    sms, banks, ports = params.sm_count, params.banks, params.metadata_ports
    generations = [HardwareBlock("generations", partial(Generations, params), sms)]
    buffers = [HardwareBlock("access_buffer", partial(AccessBuffer, params), sms)]
    return [
        *(buffers if params.access_buffer_depth else []),
        HardwareBlock("tracker", partial(Tracker, params), sms),
        HardwareBlock("lock_tables", partial(LockTables, params), sms),
        HardwareBlock("barrier_ids", partial(BarrierIds, params), sms),
        *(generations if params.slot_generation_bits else []),
        HardwareBlock("interleaver", partial(Interleaver, params), 1),
        HardwareBlock("detector_bank", partial(DetectorBank, params), ports),
        HardwareBlock("metadata_accessor", partial(MetadataAccessor, params), ports),
        HardwareBlock("hazard_window", partial(HazardWindow, params), ports),
        HardwareBlock("fence_file", partial(FenceFile, params), banks),
        HardwareBlock("detection_logic", partial(DetectionLogic, params), banks),
        HardwareBlock("report_path", partial(ReportPath, params), 1),
        HardwareBlock("registers", partial(RegisterBlock, compile_registers(params)), 1),
        HardwareBlock("system", partial(ScordSystem, params), 1),
    ]
