"""Blocks of a GPU detector that are synthesised on their own.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.rtl.common.hardware_block import HardwareBlock
from racetrap.rtl.common.registers import RegisterBlock
from racetrap.rtl.gpu.barrier_counter import BarrierCounter
from racetrap.rtl.gpu.front_end import FrontEnd
from racetrap.rtl.gpu.hazard_window import HazardWindow
from racetrap.rtl.gpu.metadata_accessor import MetadataAccessor
from racetrap.rtl.gpu.outcome_hold import OutcomeHold
from racetrap.rtl.gpu.report_path import ReportPath
from racetrap.rtl.gpu.system import GpuSystem


def front_end_blocks(params: GpuParams, name: str, coalescer: type[Any]) -> list[HardwareBlock]:
    """The front end of each SM, which stands before the system, and its parts.

    Parameters
    ----------
    params : GpuParams
        Configuration.
    name : str
        Name of the detector's coalescer.
    coalescer : type
        The coalescer.
    """
    parts: dict[str, Any] = {
        "outcome_hold": OutcomeHold,
        "barrier_counter": BarrierCounter,
        name: coalescer,
    }
    return [
        HardwareBlock("front_end", partial(FrontEnd, params, coalescer), params.sm_count),
        *(HardwareBlock(part, partial(of, params), params.sm_count) for part, of in parts.items()),
    ]


def gpu_blocks(
    system: type[GpuSystem], params: GpuParams, of_tracker: Sequence[HardwareBlock],
    of_bank: Sequence[HardwareBlock],
) -> list[HardwareBlock]:  # fmt: skip
    """Blocks of a detector, each followed by its parts; the whole system comes last.

    Parameters
    ----------
    system : type of GpuSystem
        The detector.
    params : GpuParams
        Its configuration.
    of_tracker, of_bank : sequence of HardwareBlock
        Parts of its tracker and of its banks.
    """
    ports = params.metadata_ports
    registers = system.register_module.compile_registers(params)

    def block(name: str, component: Any, count: int) -> HardwareBlock:
        return HardwareBlock(name, partial(component, params), count)

    return [
        block("tracker", system.tracker, params.sm_count),
        *of_tracker,
        block("interleaver", system.interleaver, 1),
        block("detector_bank", system.bank, ports),
        block("metadata_accessor", MetadataAccessor, ports),
        block("hazard_window", HazardWindow, ports),
        *of_bank,
        block("report_path", ReportPath, 1),
        HardwareBlock("registers", partial(RegisterBlock, registers), 1),
        HardwareBlock("system", partial(system, params), 1, is_large=True),
    ]
