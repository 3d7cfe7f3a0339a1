"""Causality as a detector: configurations, and data for generation.

Ref: ScoRD (ISCA'20) Section VI, and Table V (GPU); GPUs of today as in ``generators/scord.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from racetrap.generators.system import (
    GPU_BACK_DOORS,
    Overhead,
    Preset,
    System,
    metadata_overheads,
    presets_by_name,
)
from racetrap.golden_model.causality.packets import (
    Against,
    CollectorEvent,
    FenceOrder,
    Observed,
    PacketKind,
    ResumeKind,
    SizeCode,
    TransactionKind,
    Undecided,
)
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.state import state_bits
from racetrap.golden_model.events import AtomicOp, MemoryOrder, Scope
from racetrap.golden_model.gpu.issue import IssueKind
from racetrap.golden_model.trace.gpu.trace import Trace

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component


_PRESETS = presets_by_name(
    # Fast to generate and simulate: the configuration of most tests.
    Preset(
        "causality-tiny", "2 SMs x 2 blocks x 4 warps, small clocks and tables, for tests",
        CausalityParams(
            sm_count=2, blocks_per_sm=2, warps_per_sm=4, clock_bits=4, epoch_bits=4, hash_bits=8,
            known=1, levels=1, records=1, ratio=4, banks=2, outstanding=8, shared_bytes=256,
        ),
    ),
    # The GPU of ScoRD's paper, and its share of metadata for global memory.
    Preset(
        "causality", "The paper's GPU: 12.5 % metadata, and as much for shared memory",
        CausalityParams(),
    ),
    # One entry for each word: nothing is lost by shared entries.
    Preset("causality-nocache", "The same with one entry for every word", CausalityParams(ratio=1)),
    # Four accesses a cycle.
    Preset("causality-wide", "The paper's GPU with four banks", CausalityParams(banks=4)),
)  # fmt: skip


def _of_gpu(sm_count: int) -> CausalityParams:
    """SMs of compute capability 7.0 and 8.0, and 64 banks: their number is a power of two.

    There is no trace port: the steps of so many banks cannot be observed.
    """
    return CausalityParams(
        sm_count=sm_count, blocks_per_sm=32, warps_per_sm=64, banks=64, outstanding=256,
        packet_fifo_depth=16, shared_bytes=8192, trace_port=False,
    )  # fmt: skip


_GPU_PRESETS = presets_by_name(
    Preset("causality-v100", "NVIDIA V100: 80 SMs, a bank at each of 64 L2 slices", _of_gpu(80)),
    Preset("causality-a100", "NVIDIA A100: 108 SMs, 64 banks for 80 L2 slices", _of_gpu(108)),
)

#: 1, 2^n - 1, 2^n and 2^n + 1 are well represented.
_CHOICES: Mapping[str, Sequence[Any]] = {
    "sm_count": (1, 2, 3, 4, 5, 7, 8, 9),
    "blocks_per_sm": (1, 2, 3, 4, 5, 7, 8, 9),
    "warps_per_sm": (1, 2, 3, 4, 5, 7, 8, 9, 31, 32),
    "clock_bits": (4, 5, 8, 12, 16),
    "epoch_bits": (1, 2, 3, 4),
    "hash_bits": (1, 2, 8, 64),
    "known": (1, 2, 3, 4),
    "pending": (1, 2, 4),
    "seen": (1, 2, 4),
    "levels": (1, 2, 4),
    "records": (1, 2, 4),
    "independent_threads": (True, True, False),
    "ratio": (1, 4, 32, 64),
    "banks": (1, 2, 4, 8),
    "shared_bytes": (0, 256, 4096),
    "address_bits": (32, 40, 48, 64),
    "pc_bits": (16, 20, 32),
    "outstanding": (4, 8, 16, 64),
    "merge_in_flight": (True, True, True, False),
    "packet_fifo_depth": (2, 3, 4, 5, 8),
    "report_fifo_depth": (2, 3, 4, 5, 16),
    "report_filter_entries": (2, 4, 64),
}

#: The first four kinds are the method's, the others are overhead of the hardware.
_STATE_KINDS = {
    "rows": r"\.bank_\d+\.lane_\d+\.pipeline\.rows",
    "warp_states": r"\.tracker_\d+\.warps",
    "block_warps": r"\.tracker_\d+\.start",
    "collector": r"\.collector$",
    "collector_inputs": r"\.collector\.|\.notice_order|\.mark_keeper",
    "tracker_pipelines": r"\.(tracker|gate)_\d+",
    "interleaver": r"\.interleaver",
    "packet_fifos": r"\.bank_\d+\.(fifo|locator)",
    "notice_fifos": r"\.bank_\d+\.lane_\d+\.notices",
    "metadata_windows": r"\.bank_\d+\.accessor",
    "check_pipelines": r"\.bank_\d+",
    "report_path": r"\.report_(path|fifo)",
    "registers": r"\.(registers|launch_control)|^top$",
}
#: Fields shown by name.
_CODES: Mapping[str, type[IntEnum]] = {
    "instruction.kind": IssueKind,
    "instruction.scope": Scope,
    "instruction.op": AtomicOp,
    "instruction.order": MemoryOrder,
    "transaction.kind": TransactionKind,
    "transaction.order": FenceOrder,
    "transaction.size": SizeCode,
    "marker.kind": TransactionKind,
    "marker.order": FenceOrder,
    "resume.kind": ResumeKind,
    "step.packet_kind": PacketKind,
    "step.packet_size": SizeCode,
    "step.against": Against,
    "step.undecided": Undecided,
    "collector_event.kind": CollectorEvent,
    "entry.observed": Observed,
}


def _top(params: CausalityParams) -> Component:
    # Amaranth is imported only for generation: other users need only the parameters.
    from racetrap.rtl.causality.system import CausalitySystem

    return CausalitySystem(params)


def _front_end(params: CausalityParams) -> Component:
    from racetrap.rtl.causality.word_splitter import WordSplitter
    from racetrap.rtl.gpu.front_end import FrontEnd

    return FrontEnd(params, WordSplitter)


def _sm_unit(params: CausalityParams) -> Component:
    from racetrap.rtl.causality.sm_unit import SmUnit

    return SmUnit(params)


def _slice_unit(params: CausalityParams) -> Component:
    from racetrap.rtl.causality.slice_unit import SliceUnit

    return SliceUnit(params)


def _tiles(params: CausalityParams) -> Component:
    from racetrap.rtl.causality.tiles import CausalityTiles

    return CausalityTiles(params)


def _register_parameters(params: CausalityParams) -> dict[str, int]:
    # Likewise the compiler of register descriptions.
    from racetrap.rtl.causality.registers import register_parameters

    return register_parameters(params)


def _overheads(params: CausalityParams) -> list[Overhead]:
    shared = ", half of it for shared memory" if params.shared_bytes else ""
    return metadata_overheads(params, shared)


CAUSALITY = System(
    name="causality",
    title="Causality",
    params=CausalityParams,
    trace=Trace,
    presets=_PRESETS,
    large_presets=_GPU_PRESETS,
    random_prefix="causality-random",
    choices=_CHOICES,
    top=_top,
    parts={
        "front-end": _front_end,
        "sm-unit": _sm_unit,
        "slice-unit": _slice_unit,
        "tiles": _tiles,
    },
    layouts=(
        "instruction",
        "outcome",
        "transaction",
        "packet",
        "marker",
        "resume",
        "notice",
        "row_write",
        "done",
        "step",
        "collector_event",
        "report",
        "entry",
    ),
    traces={"step": "trace", "collector_event": "trace_collector"},
    state_kinds=_STATE_KINDS,
    method_bits=state_bits,
    overheads=_overheads,
    inputs={"transaction": "i_transaction"},
    codes=_CODES,
    register_parameters=_register_parameters,
    back_doors=GPU_BACK_DOORS,
)
