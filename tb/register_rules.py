"""Rules of every system's register port, checked on an idle device."""

from __future__ import annotations

from typing import Any

from racetrap.tb.register_agent import RegisterAgent, RegisterError
from racetrap.tb.testbench import Testbench

_OKAY, _SLVERR = 0, 2
_WORD_BYTES = 4
_LAST_ADDRESS = 0xFFC
_ALL_ONES = bytes([0xFF] * _WORD_BYTES)


def demand(what: str, seen: Any, expected: Any) -> None:
    """Raise ``RegisterError`` unless a value is the one expected."""
    if seen != expected:
        raise RegisterError(f"{what} must be {expected!r}, not {seen!r}")


class RegisterRules:
    """Checks of identity, error responses and byte strobes.

    Parameters
    ----------
    testbench : Testbench
        Shared context.
    agent : RegisterAgent
        The register port.

    Raises
    ------
    RegisterError
        From every method, at the first rule violation.
    """

    def __init__(self, testbench: Testbench, agent: RegisterAgent):
        self._registers, self._params = testbench.registers, testbench.params
        self._agent = agent

    async def check_identity(self, letters: bytes, **others: int) -> None:
        """ID holds four letters, PARAMS_* the parameters of their names, or ``others``."""
        demand("ID", await self._agent.read("ID"), int.from_bytes(letters, "big"))
        expected = vars(self._params) | others
        for register in self._registers:
            if register.startswith("PARAMS_"):
                word = await self._agent.read(register)
                for name, value in self._agent.map.fields(register, word).items():
                    demand(f"{register}.{name}", value, int(expected[name]))

    async def check_errors(self) -> int:
        """Accesses to holes and writes of read-only registers must get an error and change nothing.

        Returns
        -------
        int
            Number of those accesses.
        """
        agent, holes, read_only = self._agent, self._holes(), self._read_only()
        for address in holes:
            demand(f"Read response at {address:#x}", (await agent.read_at(address))[1], _SLVERR)
            response = await agent.write_at(address, _ALL_ONES)
            demand(f"Write response at {address:#x}", response, _SLVERR)
        for name in read_only:
            before = await agent.read(name)
            response = await agent.write_at(agent.map.address(name), _ALL_ONES)
            demand(f"Write response of {name}", response, _SLVERR)
            demand(name, await agent.read(name), before)
        return 2 * len(holes) + len(read_only)

    def _holes(self) -> list[int]:
        """Addresses without a register next to one with, and the last address."""
        used = {register["offset"] for register in self._registers.values()}
        near = {address + step for address in used for step in (-_WORD_BYTES, _WORD_BYTES)}
        return sorted(address for address in (near | {_LAST_ADDRESS}) - used if address >= 0)

    def _read_only(self) -> list[str]:
        return [
            name
            for name, register in self._registers.items()
            if all(field["access"] == "r" for field in register["fields"].values())
        ]

    async def check_strobes(self, name: str) -> None:
        """A write of some bytes of a 32-bit register must keep the others."""
        agent, address = self._agent, self._agent.map.address(name)
        await agent.write(name, 0x11223344)
        demand("Response", await agent.write_at(address + 1, b"\xaa"), _OKAY)
        demand(name, await agent.read(name), 0x1122AA44)
        demand("Response", await agent.write_at(address + 2, b"\xbb\xcc"), _OKAY)
        demand(name, await agent.read(name), 0xCCBBAA44)
