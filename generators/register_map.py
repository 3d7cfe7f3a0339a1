"""Addresses and fields of registers by name, from their description: for all who access them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["RegisterMap"]


class RegisterMap:
    """Where registers lie, and what their words mean.

    Parameters
    ----------
    registers : mapping of str to mapping
        The registers, as ``describe_registers`` describes them.
    """

    def __init__(self, registers: Mapping[str, Any]):
        self._registers = registers

    def address(self, register: str) -> int:
        """Byte address of a register."""
        return self._registers[register]["offset"]

    def names_from(self, first: str) -> list[str]:
        """Registers from ``first`` on, in the order of the description."""
        return [name for name in self._registers if self.address(name) >= self.address(first)]

    def field(self, register: str, field: str, word: int) -> int:
        """Value of a field in a register's word."""
        place = self._registers[register]["fields"][field]
        return word >> place["offset"] & (1 << place["width"]) - 1

    def pack(self, register: str, **fields: int) -> int:
        """Word of a register with some fields set, the others 0."""
        places = self._registers[register]["fields"]
        return sum(value << places[name]["offset"] for name, value in fields.items())
