"""ScoRD as a detector: configurations, and data for generation.

Ref: ScoRD (ISCA'20) Section IV-C, Table V (GPU), Section IV-B and Table VII (metadata).  NVIDIA
white papers on the V100 (2017) and A100 (2020), CUDA C++ Programming Guide (compute capabilities
7.0 and 8.0), and for the V100's slices the model of it that comes with Accel-Sim (``SM7_QV100``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from racetrap.generators.system import (
    GPU_BACK_DOORS,
    MemoryRate,
    Preset,
    System,
    metadata_overheads,
    no_memory,
    presets_by_name,
)
from racetrap.golden_model.events import AtomicOp, MemoryOrder, Scope
from racetrap.golden_model.gpu.issue import IssueKind
from racetrap.golden_model.scord.packets import (
    PacketKind,
    Preliminary,
    RaceKind,
    TableRow,
    TransactionKind,
)
from racetrap.golden_model.scord.params import AccessPolicy, ScordParams
from racetrap.golden_model.scord.state import state_bits
from racetrap.golden_model.trace.gpu.trace import Trace

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component


_SMALL = ScordParams(sm_count=2, blocks_per_sm=2, warps_per_sm=4, ratio=4, outstanding=8)

_PRESETS = presets_by_name(
    # Fast to generate and simulate: the configuration of most tests.
    Preset("scord-tiny", "2 SMs x 2 blocks x 4 warps, for tests", _SMALL),
    # The paper's own: 15 SMs, 32 warps each, 4-byte units, 16 of them to a cached entry.
    Preset("scord", "The paper's detector: 12.5 % metadata by software caching", ScordParams()),
    # One entry for each word: no false negatives from shared entries, 200 % metadata.
    Preset("scord-nocache", "One entry for every 4-byte word", ScordParams(ratio=1)),
    # Columns of Table VII: coarser units instead of caching.
    Preset("scord-8byte", "One entry for every 8 bytes", ScordParams(granularity=8, ratio=1)),
    Preset("scord-16byte", "One entry for every 16 bytes", ScordParams(granularity=16, ratio=1)),
    # Four accesses a cycle.
    Preset("scord-banks4", "The paper's detector with four banks", ScordParams(banks=4)),
    # Eight accesses a cycle through one metadata port of 512 bits; an SM offers as many.
    Preset(
        "scord-wide",
        "The paper's detector, eight words a cycle through one metadata port",
        ScordParams(banks=8, words_per_cycle=8, fence_lanes=4, outstanding=64),
    ),
    # No metadata memory port: fits a small FPGA; the monitored region is small as well.
    Preset(
        "scord-local",
        "Metadata in 4 KiB of on-chip memory, for small FPGAs",
        replace(_SMALL, ratio=16, local_bytes=4096),
    ),
)  # fmt: skip


def _of_gpu(sm_count: int, slices: int) -> ScordParams:
    """A port of eight words at each L2 slice; SMs of compute capability 7.0 and 8.0.

    There is no trace port: the steps of hundreds of banks cannot be observed.
    """
    return ScordParams(
        sm_count=sm_count, blocks_per_sm=32, warps_per_sm=64, banks=8 * slices, words_per_cycle=8,
        fence_lanes=4, outstanding=256, packet_fifo_depth=16, trace_port=False,
    )  # fmt: skip


_GPU_PRESETS = presets_by_name(
    # 32 memory channels of two slices of 96 KiB each.
    Preset("scord-v100", "NVIDIA V100: 80 SMs, 64 L2 slices", _of_gpu(80, 64)),
    # Two partitions of 40 slices of 512 KiB each.
    Preset("scord-a100", "NVIDIA A100: 108 SMs, 80 L2 slices", _of_gpu(108, 80)),
)

#: 1, 2^n - 1, 2^n and 2^n + 1 are well represented.
_CHOICES: Mapping[str, Sequence[Any]] = {
    "sm_count": (1, 2, 3, 4, 5, 7, 8, 9),
    "blocks_per_sm": (1, 2, 3, 4, 5, 7, 8, 9),
    "warps_per_sm": (1, 2, 3, 4, 5, 7, 8, 9, 31, 32),
    "granularity": (4, 8, 16),
    "ratio": (1, 2, 4, 16, 64),
    "lock_table_depth": (1, 2, 3, 4, 5, 7),
    "fence_id_bits": (2, 3, 6, 9),
    "barrier_id_bits": (2, 5, 8),
    "address_bits": (32, 40, 48, 64),
    "pc_bits": (16, 20, 32),
    "banks": (1, 2, 3, 4, 5, 6, 8, 8, 12, 24),
    "words_per_cycle": (1, 1, 2, 4, 8, 8),
    "fence_lanes": (1, 1, 2, 4),
    "outstanding": (4, 8, 16, 64),
    "packet_fifo_depth": (2, 3, 4, 5, 8),
    "report_fifo_depth": (2, 3, 4, 5, 16),
    "report_filter_entries": (2, 4, 64),
    "access_buffer_depth": (0, 0, 0, 1, 2, 8),
    "access_policy": (AccessPolicy.STALL, *AccessPolicy),
    "sample_log2": (0, 0, 0, 1, 3),
    "local_bytes": (0, 0, 0, 4096),
    "merge_in_flight": (True, True, True, False),
    "regions": (1, 1, 1, 2, 3, 8),
    "valid_segments": (0, 0, 0, 64, 128, 1024),
    "slot_generation_bits": (0, 0, 1, 2, 6),
}

#: The first four kinds are the method's, the others are overhead of the hardware.
_STATE_KINDS = {
    "lock_tables": r"\.tracker_\d+\.lock_tables",
    "barrier_ids": r"\.tracker_\d+\.barrier_ids",
    "generations": r"\.tracker_\d+\.generations",
    "fence_files": r"\.bank_\d+\..*fence_file",
    "tracker_pipelines": r"\.(tracker|gate|access_buffer)_\d+",
    "interleaver": r"\.interleaver",
    "valid_tables": r"\.bank_\d+\.valid_table",
    "packet_fifos": r"\.bank_\d+\.(fifo|decoder|located|locator)",
    "report_fifos": r"\.bank_\d+\.lane_\d+\.reports",
    "metadata_windows": r"\.bank_\d+\.accessor",
    "check_pipelines": r"\.bank_\d+",
    "local_memory": r"\.local_memory_\d+",
    "report_path": r"\.report_(path|arbiter_\d+)",
    "registers": r"\.(registers|launch_control)|^top$",
}
#: Fields shown by name.
_CODES = {
    "instruction.kind": IssueKind,
    "instruction.scope": Scope,
    "instruction.op": AtomicOp,
    "instruction.order": MemoryOrder,
    "transaction.kind": TransactionKind,
    "transaction.scope": Scope,
    "transaction.op": AtomicOp,
    "request.segment_kind": PacketKind,
    "request.segment_scope": Scope,
    "step.packet_kind": PacketKind,
    "step.packet_scope": Scope,
    "step.row": TableRow,
    "step.preliminary": Preliminary,
    "step.race": RaceKind,
}


def _top(params: ScordParams) -> Component:
    # Amaranth is imported only for generation: other users need only the parameters.
    from racetrap.rtl.scord.system import ScordSystem

    return ScordSystem(params)


def _front_end(params: ScordParams) -> Component:
    from racetrap.rtl.gpu.front_end import FrontEnd
    from racetrap.rtl.scord.coalescer import Coalescer

    return FrontEnd(params, Coalescer)


def _sm_unit(params: ScordParams) -> Component:
    from racetrap.rtl.scord.sm_unit import SmUnit

    return SmUnit(params)


def _slice_unit(params: ScordParams) -> Component:
    from racetrap.rtl.scord.slice_unit import SliceUnit

    return SliceUnit(params)


def _tiles(params: ScordParams) -> Component:
    from racetrap.rtl.scord.tiles import ScordTiles

    return ScordTiles(params)


def _register_parameters(params: ScordParams) -> dict[str, int]:
    # Likewise the compiler of register descriptions.
    from racetrap.rtl.scord.registers import register_parameters

    return register_parameters(params)


def _memory_rate(params: ScordParams, latency: int) -> MemoryRate:
    if params.local_bytes:
        return no_memory(params, latency)
    rate = params.segments_per_cycle(latency)
    words, enough = params.words_per_cycle, params.outstanding_for(latency)
    better = replace(params, outstanding=enough).segments_per_cycle(latency)
    advice = (
        f"Parameter outstanding is too small for a memory latency of {latency} cycles: with "
        f"{params.outstanding} a metadata port takes {words * rate:.2g} of {words} accesses a "
        f"cycle, with --set outstanding={enough} it takes {words * better:.2g}."
    )
    return MemoryRate(rate, advice if rate < 1 else "")


SCORD = System(
    name="scord",
    title="ScoRD",
    params=ScordParams,
    trace=Trace,
    presets=_PRESETS,
    large_presets=_GPU_PRESETS,
    random_prefix="random",
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
        "request",
        "response",
        "step",
        "report",
        "entry",
    ),
    traces={"step": "trace"},
    state_kinds=_STATE_KINDS,
    method_bits=state_bits,
    memory_rate=_memory_rate,
    overheads=metadata_overheads,
    inputs={"transaction": "i_transaction"},
    codes=_CODES,
    register_parameters=_register_parameters,
    back_doors=GPU_BACK_DOORS,
)
