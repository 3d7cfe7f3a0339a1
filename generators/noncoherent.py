"""The bus monitor for non-coherent accelerators for the generator.

Ref: Young (UBC 2020) Section 3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from racetrap.generators.system import System
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.noncoherent.state import state_bits
from racetrap.golden_model.trace.noncoherent.operations import OperationKind

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component

__all__ = ["NONCOHERENT"]

#: The first kinds are the method's own, the others explain what the hardware has on top.
_STATE_KINDS = {
    "dirty": r"\.monitor\.dirty_",
    "valid": r"\.monitor\.valid",
    "stale": r"\.monitor\.stale",
    "dma": r"\.monitor\.(writing|reading)_\d+",
    "monitor": r"\.monitor",
    "row_splitter": r"\.splitter",
    "report_path": r"\.report_path",
    "registers": r"\.registers$|^top$",
}


def _top(params: NoncoherentParams) -> Component:
    # Amaranth is for commands that generate: others only ask whose parameters they have.
    from racetrap.rtl.noncoherent.system import NoncoherentSystem

    return NoncoherentSystem(params)


NONCOHERENT = System(
    name="noncoherent",
    params=NoncoherentParams,
    top=_top,
    parts={},
    layouts=("operation", "row", "step", "report"),
    traces={"step": "trace"},
    state_kinds=_STATE_KINDS,
    method_bits=state_bits,
    inputs={"operation": "i_operation"},
    codes={"operation.kind": OperationKind, "step.row_kind": OperationKind},
)
