"""Blocks of HiRace that are synthesised on their own.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from functools import partial

from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.rtl.common.hardware_block import HardwareBlock
from racetrap.rtl.gpu.blocks import gpu_blocks
from racetrap.rtl.hirace.check_pipeline import CheckPipeline
from racetrap.rtl.hirace.entry_locator import EntryLocator
from racetrap.rtl.hirace.system import HiraceSystem
from racetrap.rtl.hirace.transitions import Transitions


def blocks(params: HiraceParams) -> list[HardwareBlock]:
    """Blocks of HiRace, each followed by its parts; the whole system comes last."""
    of_bank = [
        HardwareBlock("entry_locator", partial(EntryLocator, params), params.banks),
        HardwareBlock("check_pipeline", partial(CheckPipeline, params), params.banks),
        HardwareBlock("transitions", Transitions, params.banks),
    ]
    return gpu_blocks(HiraceSystem, params, [], of_bank)
