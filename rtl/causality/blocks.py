"""Blocks of causality that are synthesised on their own.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section VI.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.check_pipeline import CheckPipeline
from racetrap.rtl.causality.collector import Collector
from racetrap.rtl.causality.detection_logic import DetectionLogic
from racetrap.rtl.causality.entry_locator import EntryLocator
from racetrap.rtl.causality.notice_order import NoticeOrder
from racetrap.rtl.causality.system import CausalitySystem
from racetrap.rtl.causality.warp_row import WarpRows
from racetrap.rtl.causality.warp_states import BlockStart, WarpStates
from racetrap.rtl.causality.word_splitter import WordSplitter
from racetrap.rtl.common.hardware_block import HardwareBlock
from racetrap.rtl.gpu.blocks import front_end_blocks, gpu_blocks


def blocks(params: CausalityParams) -> list[HardwareBlock]:
    """Blocks of causality, each followed by its parts; the whole system comes last."""

    def block(name: str, component: Any, count: int) -> HardwareBlock:
        return HardwareBlock(name, partial(component, params), count)

    of_tracker = [
        block("warp_states", WarpStates, params.sm_count),
        block("block_start", BlockStart, params.sm_count),
    ]
    of_bank = [
        block("entry_locator", EntryLocator, params.banks),
        block("check_pipeline", CheckPipeline, params.banks),
        block("warp_rows", WarpRows, params.banks),
        block("detection_logic", DetectionLogic, params.banks),
        block("notice_order", NoticeOrder, 1),
        HardwareBlock("collector", partial(Collector, params), 1, is_large=True),
    ]
    return [
        *front_end_blocks(params, "word_splitter", WordSplitter),
        *gpu_blocks(CausalitySystem, params, of_tracker, of_bank),
    ]
