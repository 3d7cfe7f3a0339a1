"""Base of all GPU detectors' race reports: the record in the ring buffer, and the key."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import IntEnum
from typing import Any, ClassVar, Self

from racetrap.golden_model.events import Scope
from racetrap.golden_model.layout import Layout


def words_of(kind: IntEnum) -> str:
    """Name of a kind of race for people and files, such as ``missing-block-fence``."""
    return kind.name.lower().replace("_", "-")


class RingReport(ABC):
    """Base of a report, a dataclass with slots for the fields of its record that are in use.

    Parameters
    ----------
    address : int
        Byte address of the word.
    pc : int
        Program counter of the access that found the race.
    sequence : int
        Number of the race since reset.
    race : int
        Kind of race, one of ``kinds``.

    Attributes
    ----------
    layout : Layout
        Layout of a record, the same in every configuration.
    kinds : type of IntEnum
        Kinds of race.
    """

    __slots__: tuple[str, ...] = ()

    layout: ClassVar[Layout]
    kinds: ClassVar[type[IntEnum]]
    address: Any
    pc: Any
    sequence: Any
    race: Any

    @classmethod
    def from_record(cls, record: int) -> Self:
        """Report in a 32-byte record of the ring buffer, read as a little-endian integer."""
        values = cls.layout.unpack(record)
        return cls(**{name: values[name] for name in cls.__slots__})

    def record(self) -> int:
        """The 32-byte record of the ring buffer as an integer."""
        reserved = dict.fromkeys(self.layout.fields, 0)
        return self.layout.pack(reserved | {name: getattr(self, name) for name in self.__slots__})

    @property
    def kind_words(self) -> str:
        """Kind of race for people and files."""
        return words_of(self.kinds(self.race))

    @property
    def key(self) -> tuple[int, int]:
        """Key by which races are counted: PC and kind of race."""
        return self.pc, self.race

    @property
    @abstractmethod
    def race_scope(self) -> Scope:
        """Scope of the race: within a block, or between blocks of the device."""

    @property
    @abstractmethod
    def space(self) -> str:
        """Memory of the word: ``global`` or ``shared``."""

    @property
    @abstractmethod
    def rule(self) -> tuple[str, str]:
        """What decided, as the method has it: the name of the place, and which one there."""

    @property
    @abstractmethod
    def reason(self) -> str:
        """Why the two accesses race, as a clause."""
