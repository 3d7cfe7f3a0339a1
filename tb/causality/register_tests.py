"""cocotb test of causality's register port."""

from __future__ import annotations

import cocotb

from racetrap.golden_model.causality.packets import SizeCode, Transaction, TransactionKind
from racetrap.golden_model.gpu.params import WORD_BYTES
from racetrap.tb.base_test import run_test
from racetrap.tb.causality.environment import CausalityEnvironment
from racetrap.tb.gpu.register_misuse import RegisterMisuse


class _RegisterMisuse(RegisterMisuse):
    environment_class, letters = CausalityEnvironment, b"Caus"

    def store(self, warp: int, address: int) -> Transaction:
        return Transaction(
            TransactionKind.STORE, warp=warp, pc=warp, writes=1, size=SizeCode.FOUR,
            bytes=(1 << WORD_BYTES) - 1, word=address // WORD_BYTES, lanes=1,
        )  # fmt: skip

    def stores(self, address: int) -> list[Transaction]:
        warps = (1 << self.testbench.params.warps_per_sm) - 1
        return [Transaction(TransactionKind.BLOCK_START, warps=warps), *super().stores(address)]


@cocotb.test()
async def register_misuse(dut):
    await run_test(dut, _RegisterMisuse)
