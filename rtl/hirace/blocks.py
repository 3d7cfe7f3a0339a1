"""Blocks of HiRace that are synthesised on their own.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from functools import partial

from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.rtl.common.hardware_block import HardwareBlock
from racetrap.rtl.common.registers import RegisterBlock
from racetrap.rtl.gpu.hazard_window import HazardWindow
from racetrap.rtl.gpu.metadata_accessor import MetadataAccessor
from racetrap.rtl.gpu.report_path import ReportPath
from racetrap.rtl.hirace.check_pipeline import CheckPipeline
from racetrap.rtl.hirace.detector_bank import DetectorBank
from racetrap.rtl.hirace.entry_locator import EntryLocator
from racetrap.rtl.hirace.interleaver import Interleaver
from racetrap.rtl.hirace.registers import compile_registers
from racetrap.rtl.hirace.system import HiraceSystem
from racetrap.rtl.hirace.tracker import Tracker
from racetrap.rtl.hirace.transitions import Transitions


def blocks(params: HiraceParams) -> list[HardwareBlock]:
    """Blocks of HiRace, each followed by its parts; the whole system comes last."""
    banks = params.banks
    return [
        HardwareBlock("tracker", partial(Tracker, params), params.sm_count),
        HardwareBlock("interleaver", partial(Interleaver, params), 1),
        HardwareBlock("detector_bank", partial(DetectorBank, params), banks),
        HardwareBlock("entry_locator", partial(EntryLocator, params), banks),
        HardwareBlock("metadata_accessor", partial(MetadataAccessor, params), banks),
        HardwareBlock("hazard_window", partial(HazardWindow, params), banks),
        HardwareBlock("check_pipeline", partial(CheckPipeline, params), banks),
        HardwareBlock("transitions", Transitions, banks),
        HardwareBlock("report_path", partial(ReportPath, params), 1),
        HardwareBlock("registers", partial(RegisterBlock, compile_registers(params)), 1),
        HardwareBlock("system", partial(HiraceSystem, params), 1),
    ]
