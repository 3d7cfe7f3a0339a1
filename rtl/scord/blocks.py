"""Blocks of ScoRD that are synthesised on their own.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from functools import partial

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.hardware_block import HardwareBlock
from racetrap.rtl.gpu.blocks import front_end_blocks, gpu_blocks
from racetrap.rtl.scord.access_buffer import AccessBuffer
from racetrap.rtl.scord.barrier_ids import BarrierIds, Generations
from racetrap.rtl.scord.coalescer import Coalescer
from racetrap.rtl.scord.detection_logic import DetectionLogic
from racetrap.rtl.scord.fence_file import FenceFile
from racetrap.rtl.scord.lock_table import LockTables
from racetrap.rtl.scord.shared_fence_file import SharedFenceFile
from racetrap.rtl.scord.system import ScordSystem


def blocks(params: ScordParams) -> list[HardwareBlock]:
    """Blocks of ScoRD, each followed by its parts; the whole system comes last."""
    sms, banks = params.sm_count, params.banks
    buffers = [HardwareBlock("access_buffer", partial(AccessBuffer, params), sms)]
    generations = [HardwareBlock("generations", partial(Generations, params), sms)]
    of_tracker = [
        HardwareBlock("lock_tables", partial(LockTables, params), sms),
        HardwareBlock("barrier_ids", partial(BarrierIds, params), sms),
        *(generations if params.slot_generation_bits else []),
    ]
    files = SharedFenceFile if params.shares_owners else FenceFile
    of_bank = [
        HardwareBlock("fence_file", partial(files, params), params.metadata_ports),
        HardwareBlock("detection_logic", partial(DetectionLogic, params), banks),
    ]
    return [
        *front_end_blocks(params, "coalescer", Coalescer),
        *(buffers if params.access_buffer_depth else []),
        *gpu_blocks(ScordSystem, params, of_tracker, of_bank),
    ]
