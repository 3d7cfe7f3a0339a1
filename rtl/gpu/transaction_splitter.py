"""Transaction splitter: the part of a front end that is the detector's own, by its ports.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.gpu.issue import IssueKind
from racetrap.golden_model.gpu.params import GpuParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.gpu.outcome_hold import operation_layout


class TransactionSplitter(wiring.Component):
    """Makes a detector's transactions of each instruction; a detector says how.

    ``ready`` depends on no ``valid``.

    Parameters
    ----------
    params : GpuParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(operation_layout(params)))``
        Instructions.
    o : ``Out(stream.Signature(transaction_layout))``
        Transactions.
    o_idle, o_warp : ``Out(1)``, ``Out(warp_bits)``
        There is no instruction; or the warp of the one there is.
    """

    def __init__(self, params: GpuParams):
        self._params = params
        super().__init__({
            "i": In(stream.Signature(operation_layout(params))),
            "o": Out(stream.Signature(struct_layout(params.transaction_layout))),
            "o_idle": Out(1),
            "o_warp": Out(params.warp_bits),
        })  # fmt: skip


def is_access(operation: data.View) -> Value:
    """Whether an instruction accesses memory, shared memory too."""
    accesses = (IssueKind.LOAD, IssueKind.STORE, IssueKind.ATOMIC)
    return Cat(operation.kind == kind for kind in accesses).any()
