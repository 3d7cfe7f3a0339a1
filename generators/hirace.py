"""HiRace as a detector: configurations, and data for generation.

Ref: HiRace (SC'24) and the widths of its published artefact; ScoRD (ISCA'20) Table V (GPU).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from racetrap.generators.system import (
    GPU_BACK_DOORS,
    Preset,
    System,
    metadata_overheads,
    presets_by_name,
)
from racetrap.golden_model.events import Scope
from racetrap.golden_model.hirace.packets import PacketKind, RaceKind, TransactionKind
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.golden_model.hirace.state import state_bits
from racetrap.golden_model.hirace.states import Relation, State, Sync
from racetrap.golden_model.trace.gpu.trace import Trace

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component


_PRESETS = presets_by_name(
    # Fast to generate and simulate: the configuration of most tests.
    Preset(
        "hirace-tiny", "2 SMs x 2 blocks x 4 warps, counts that wrap soon, for tests",
        HiraceParams(
            sm_count=2, blocks_per_sm=2, warps_per_sm=4, generation_bits=3, barrier_bits=4,
            warp_barrier_bits=3, outstanding=8, shared_bytes=256,
        ),
    ),
    # The GPU of ScoRD's paper; a block is named by as many bits as in the artefact.
    Preset(
        "hirace", "The artefact's widths, with 4 KiB of each block's shared memory", HiraceParams()
    ),
    # Metadata of global memory alone: half as much.
    Preset("hirace-global", "The same without shared memory", HiraceParams(shared_bytes=0)),
    # Four accesses a cycle.
    Preset("hirace-banks4", "The same with four banks", HiraceParams(banks=4)),
    # One report for each word, as in the artefact.
    Preset("hirace-once", "The same, but a word stays in RACE", HiraceParams(begin_anew=False)),
)  # fmt: skip

#: 1, 2^n - 1, 2^n and 2^n + 1 are well represented.
_CHOICES: Mapping[str, Sequence[Any]] = {
    "sm_count": (1, 2, 3, 4, 5, 7, 8, 9),
    "blocks_per_sm": (1, 2, 3, 4, 5, 7, 8, 9),
    "warps_per_sm": (1, 2, 3, 4, 5, 7, 8, 9, 31, 32),
    "generation_bits": (1, 2, 8),
    "barrier_bits": (2, 5, 16),
    "warp_barrier_bits": (2, 5, 10),
    "address_bits": (32, 40, 48, 64),
    "pc_bits": (16, 20, 32),
    "banks": (1, 2, 4, 8),
    "outstanding": (4, 8, 16, 64),
    "merge_in_flight": (True, True, True, False),
    "packet_fifo_depth": (2, 3, 4, 5, 8),
    "report_fifo_depth": (2, 3, 4, 5, 16),
    "report_filter_entries": (2, 4, 64),
    "shared_bytes": (0, 32, 256, 4096),
    "begin_anew": (True, True, False),
}

#: The first three kinds are the method's, the others are overhead of the hardware.
_STATE_KINDS = {
    "barriers": r"\.tracker_\d+\.barriers",
    "generations": r"\.tracker_\d+\.generations",
    "warp_barriers": r"\.tracker_\d+\.warp_barriers",
    "tracker_pipelines": r"\.(tracker|gate)_\d+",
    "interleaver": r"\.interleaver",
    "packet_fifos": r"\.bank_\d+\.(fifo|locator)",
    "report_fifos": r"\.bank_\d+\.lane_\d+\.reports",
    "metadata_windows": r"\.bank_\d+\.accessor",
    "check_pipelines": r"\.bank_\d+",
    "report_path": r"\.report_path",
    "registers": r"\.(registers|launch_control)|^top$",
}
#: Fields shown by name.
_CODES: Mapping[str, type[IntEnum]] = {
    "transaction.kind": TransactionKind,
    "transaction.scope": Scope,
    "step.packet_kind": PacketKind,
    "step.packet_scope": Scope,
    "step.sync": Sync,
    "step.relation": Relation,
    "step.race": RaceKind,
    "entry.state": State,
}


def _top(params: HiraceParams) -> Component:
    # Amaranth is imported only for generation: other users need only the parameters.
    from racetrap.rtl.hirace.system import HiraceSystem

    return HiraceSystem(params)


def _register_parameters(params: HiraceParams) -> dict[str, int]:
    # Likewise the compiler of register descriptions.
    from racetrap.rtl.hirace.registers import register_parameters

    return register_parameters(params)


HIRACE = System(
    name="hirace",
    title="HiRace",
    params=HiraceParams,
    trace=Trace,
    presets=_PRESETS,
    random_prefix="hirace-random",
    choices=_CHOICES,
    top=_top,
    parts={},
    layouts=("transaction", "packet", "step", "report", "entry"),
    traces={"step": "trace"},
    state_kinds=_STATE_KINDS,
    method_bits=state_bits,
    overheads=metadata_overheads,
    inputs={"transaction": "i_transaction"},
    codes=_CODES,
    register_parameters=_register_parameters,
    back_doors=GPU_BACK_DOORS,
)
