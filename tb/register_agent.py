"""Agent of the AXI4-Lite register port, around the third-party manager of cocotbext-axi."""

from __future__ import annotations

from cocotb.triggers import with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster
from pyuvm import ConfigDB, uvm_agent

from racetrap.generators.register_map import RegisterMap
from racetrap.tb.bench import Bench

__all__ = ["RegisterAgent", "RegisterError"]

_TIMEOUT_STEPS = 4000
_WORD_BYTES = 4


class RegisterError(AssertionError):
    """A register access was answered with an error, or not as it should have been."""


class RegisterAgent(uvm_agent):
    """Reads and writes registers by name, or any address.  A silent device is a failure.

    Attributes
    ----------
    map : RegisterMap
        Addresses and fields of the registers.
    """

    def build_phase(self) -> None:
        bench: Bench = ConfigDB().get(self, "", "BENCH")
        self.map = RegisterMap(bench.registers)
        dut = bench.pins.dut
        bus = AxiLiteBus.from_prefix(dut, "s_axil_")
        self._manager = AxiLiteMaster(bus, dut.clk, dut.rst)

    async def read_at(self, address: int) -> tuple[int, int]:
        """Value and response code of a read."""
        answer = await with_timeout(
            self._manager.read(address, _WORD_BYTES), _TIMEOUT_STEPS, "step"
        )
        return int.from_bytes(answer.data, "little"), int(answer.resp)

    async def write_at(self, address: int, data: bytes) -> int:
        """Response code of a write; fewer than four bytes make partial strobes."""
        answer = await with_timeout(self._manager.write(address, data), _TIMEOUT_STEPS, "step")
        return int(answer.resp)

    async def read(self, name: str) -> int:
        """Value of a register; an error response is a failure."""
        value, response = await self.read_at(self.map.address(name))
        if response:
            raise RegisterError(f"Read of {name} must be answered with 0, not {response}")
        return value

    async def write(self, name: str, value: int) -> None:
        """Write a register; an error response is a failure."""
        data = value.to_bytes(_WORD_BYTES, "little")
        if response := await self.write_at(self.map.address(name), data):
            raise RegisterError(f"Write of {name} must be answered with 0, not {response}")
