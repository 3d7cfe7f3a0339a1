"""Agent of the AXI4-Lite register port, around the third-party manager of cocotbext-axi."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cocotb.task import bridge, resume
from cocotb.triggers import with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster
from pyuvm import ConfigDB, uvm_agent

from racetrap.generators.register_map import RegisterMap, RegisterPort
from racetrap.tb.testbench import Testbench

_TIMEOUT_STEPS = 4000
_WORD_BYTES = 4
_POLLS = 20_000


class RegisterError(AssertionError):
    """A register access was answered with an error or a wrong response."""


class RegisterAgent(uvm_agent):
    """Reads and writes registers by name, or any address.  A silent device is a failure.

    Attributes
    ----------
    map : RegisterMap
        Addresses and fields of the registers.
    port : RegisterPort
        The same registers for software in a ``SoftwareThread``.
    """

    def build_phase(self) -> None:
        testbench: Testbench = ConfigDB().get(self, "", "TESTBENCH")
        self.map = RegisterMap(testbench.registers)
        self.port = _BlockingPort(self)
        dut = testbench.pins.dut
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


class _BlockingPort(RegisterPort):
    """Register port for a thread that a coroutine waits for."""

    def __init__(self, agent: RegisterAgent):
        super().__init__(agent.map)
        self._agent = agent

    def read(self, register: str) -> int:
        return resume(self._agent.read)(register)

    def write(self, register: str, value: int) -> None:
        resume(self._agent.write)(register, value)


def poll(is_done: Callable[[], bool], what: str, cycles: int = 0) -> None:
    """Poll until a condition holds; ``RegisterError`` after many polls, more for long work."""
    polls = _POLLS + cycles
    for _ in range(polls):
        if is_done():
            return
    raise RegisterError(f"Device must {what} within {polls} polls")


class SoftwareThread:
    """Driver software with its methods as coroutines, each call in its own thread.

    Simulation time advances only while the software waits for a register, so runs are reproducible.

    Parameters
    ----------
    software : object
        Software that reaches its registers through a ``RegisterAgent.port``.
    """

    def __init__(self, software: Any):
        self._software = software

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._software, name)
        return bridge(member) if callable(member) else member
