"""SigRace for the generator.

Ref: SigRace (ISCA'09) Section 5.5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from racetrap.generators.system import System
from racetrap.golden_model.sigrace.packets import Cause, CoreOp, Drop, RdmStepKind, Relation
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.state import state_bits

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component

__all__ = ["SIGRACE"]


#: The first kinds are the method's own, the others explain what the hardware has on top.
_STATE_KINDS = {
    "timestamps": r"\.core_unit_\d+\.state\.timestamp",
    "timestamps_to_reach": r"\.core_unit_\d+\.state\.trt",
    "read_write_sets": r"\.core_unit_\d+\.(sets|signatures)",
    "conflict_signatures": r"\.core_unit_\d+\.traps$",
    "history_queues": r"\.rdm\.controller\.queues",
    "trap_records": r"\.core_unit_\d+\.traps\.",
    "compressors": r"\.core_unit_\d+\.compressor",
    "core_pipelines": r"\.core_unit_\d+",
    "links": r"\.(context_arbiter_\d+|rdm\.(link_\d+|arbiter))",
    "decompressor": r"\.rdm\.decompressor",
    "core_to_thread": r"\.rdm\.core_to_thread",
    "scanner": r"\.rdm\.controller",
    "conflict_log": r"\.rdm\.log",
    "registers": r"\.rdm(\.registers)?$|^top$",
}
#: Fields that people read by name.
_CODES = {
    "event.op": CoreOp,
    "core_step.event_op": CoreOp,
    "core_step.cause": Cause,
    "rdm_step.kind": RdmStepKind,
    "rdm_step.cause": Cause,
    "rdm_step.relation": Relation,
    "rdm_step.drop": Drop,
}


def _top(params: SigraceParams) -> Component:
    # Amaranth is for commands that generate: others only ask whose parameters they have.
    from racetrap.rtl.sigrace.system import SigraceSystem

    return SigraceSystem(params)


def _core_unit(params: SigraceParams) -> Component:
    from racetrap.rtl.sigrace.core_unit import CoreUnit

    return CoreUnit(params)


def _rdm(params: SigraceParams) -> Component:
    from racetrap.rtl.sigrace.rdm import Rdm

    return Rdm(params)


SIGRACE = System(
    name="sigrace",
    params=SigraceParams,
    top=_top,
    parts={"core-unit": _core_unit, "rdm": _rdm},
    layouts=("event", "core_step", "trap", "flit", "header", "rdm_step", "log"),
    traces={"core_step": "trace_core", "rdm_step": "trace_rdm"},
    state_kinds=_STATE_KINDS,
    method_bits=state_bits,
    inputs={"event": "i_event"},
    codes=_CODES,
)
