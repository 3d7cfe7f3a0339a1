"""Registers by name: their addresses and fields, and a port to them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any


class RegisterMap:
    """Addresses and fields of registers.

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

    @property
    def counters(self) -> list[str]:
        """Registers with a field that counts events, by address."""
        return sorted(
            (
                name
                for name, register in self._registers.items()
                if any(field["kind"] == "counter" for field in register["fields"].values())
            ),
            key=self.address,
        )

    @property
    def addresses(self) -> dict[str, int]:
        """Byte addresses of all registers."""
        return {name: self.address(name) for name in self._registers}

    @property
    def stored(self) -> dict[str, int]:
        """Registers that are as software has written them, each with the bits that are kept.

        Pulses of theirs read as 0.  One that may be locked is not among them.
        """
        kinds = {"stored", "pulse"}
        return {
            name: self.pack(name, **{
                each: (1 << field["width"]) - 1
                for each, field in register["fields"].items() if field["kind"] == "stored"
            })
            for name, register in self._registers.items()
            if {field["kind"] for field in register["fields"].values()} <= kinds
            and not any("locked_by" in field for field in register["fields"].values())
        }  # fmt: skip

    def has(self, register: str) -> bool:
        """Whether there is such a register."""
        return register in self._registers

    def fields(self, register: str, word: int) -> dict[str, int]:
        """Values of the fields in a register's word, by name."""
        return {
            name: word >> place["offset"] & (1 << place["width"]) - 1
            for name, place in self._registers[register]["fields"].items()
        }

    def pack(self, register: str, **fields: int) -> int:
        """Word of a register with some fields set, the others 0."""
        places = self._registers[register]["fields"]
        return sum(value << places[name]["offset"] for name, value in fields.items())


class RegisterPort(ABC):
    """Port to the registers of a device, over any connection.

    Parameters
    ----------
    registers : RegisterMap
        The device's registers.
    """

    def __init__(self, registers: RegisterMap):
        self.map = registers

    @abstractmethod
    def read(self, register: str) -> int:
        """Value of a register."""

    @abstractmethod
    def write(self, register: str, value: int) -> None:
        """Write a register."""

    def fields(self, register: str) -> dict[str, int]:
        """Values of the fields of a register, by name, in one read."""
        return self.map.fields(register, self.read(register))

    def field(self, register: str, field: str) -> int:
        """Value of a field of a register."""
        return self.fields(register)[field]

    def write_fields(self, register: str, **fields: int) -> None:
        """Write a register with some fields set, the others 0."""
        self.write(register, self.map.pack(register, **fields))

    def write_pair(self, register: str, value: int) -> None:
        """Write 64 bits to the registers ``<register>_LO`` and ``_HI``."""
        self.write(f"{register}_LO", value & 0xFFFFFFFF)
        self.write(f"{register}_HI", value >> 32)

    def read_counters(self) -> dict[str, int]:
        """Values of all event counters, by register name in lower case."""
        return {name.lower(): self.read(name) for name in self.map.counters}
