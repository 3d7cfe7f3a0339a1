"""cocotb test of ScoRD's register port."""

from __future__ import annotations

import cocotb

from racetrap.golden_model.gpu.params import LINE_BYTES
from racetrap.golden_model.scord.packets import Transaction, TransactionKind
from racetrap.tb.base_test import run_test
from racetrap.tb.gpu.register_misuse import RegisterMisuse
from racetrap.tb.scord.environment import ScordEnvironment


class _RegisterMisuse(RegisterMisuse):
    environment_class, letters = ScordEnvironment, b"ScRD"

    def store(self, warp: int, address: int) -> Transaction:
        line = address // LINE_BYTES
        return Transaction(
            TransactionKind.STORE, strong=1, warp=warp, pc=warp, line=line, mask=0b11
        )


@cocotb.test()
async def register_misuse(dut):
    await run_test(dut, _RegisterMisuse)
