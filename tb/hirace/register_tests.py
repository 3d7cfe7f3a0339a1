"""cocotb test of HiRace's register port."""

from __future__ import annotations

import cocotb

from racetrap.golden_model.gpu.params import WORD_BYTES
from racetrap.golden_model.hirace.packets import Transaction, TransactionKind
from racetrap.tb.base_test import run_test
from racetrap.tb.gpu.register_misuse import RegisterMisuse
from racetrap.tb.hirace.environment import HiraceEnvironment


class _RegisterMisuse(RegisterMisuse):
    environment_class, letters = HiraceEnvironment, b"HiRc"

    def store(self, warp: int, address: int) -> Transaction:
        word = address // WORD_BYTES
        return Transaction(TransactionKind.STORE, warp=warp, pc=warp, word=word, more=1)


@cocotb.test()
async def register_misuse(dut):
    await run_test(dut, _RegisterMisuse)
