"""ScoRD for the generator.

Ref: ScoRD (ISCA'20) Section IV-C.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from racetrap.generators.system import System
from racetrap.golden_model.events import AtomicOp, Scope
from racetrap.golden_model.scord.packets import (
    PacketKind,
    Preliminary,
    RaceKind,
    TableRow,
    TransactionKind,
)
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.state import state_bits

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component

__all__ = ["SCORD"]

#: The first three kinds are the method's own, the others explain what the hardware has on top.
_STATE_KINDS = {
    "lock_tables": r"\.tracker_\d+\.lock_tables",
    "barrier_ids": r"\.tracker_\d+\.barrier_ids",
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
#: Fields that people read by name.
_CODES = {
    "transaction.kind": TransactionKind,
    "transaction.scope": Scope,
    "transaction.op": AtomicOp,
    "step.packet_kind": PacketKind,
    "step.packet_scope": Scope,
    "step.row": TableRow,
    "step.preliminary": Preliminary,
    "step.race": RaceKind,
}


def _top(params: ScordParams) -> Component:
    # Amaranth is for commands that generate: others only ask whose parameters they have.
    from racetrap.rtl.scord.system import ScordSystem

    return ScordSystem(params)


def _register_parameters(params: ScordParams) -> dict[str, int]:
    # The compiler of register descriptions, likewise.
    from racetrap.rtl.scord.registers import register_parameters

    return register_parameters(params)


SCORD = System(
    name="scord",
    params=ScordParams,
    top=_top,
    parts={},
    layouts=("transaction", "packet", "step", "report", "entry"),
    traces={"step": "trace"},
    state_kinds=_STATE_KINDS,
    method_bits=state_bits,
    inputs={"transaction": "i_transaction"},
    codes=_CODES,
    register_parameters=_register_parameters,
    # A sweep of metadata is cut short.
    back_doors={"accessor.init": {"index": "rw", "o_busy": "rd"}},
)
