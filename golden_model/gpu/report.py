"""What race reports of all GPU detectors have in common: the record in the ring buffer, the key."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, ClassVar, Self

from racetrap.golden_model.layout import Layout


def words_of(kind: IntEnum) -> str:
    """Name of a kind of race for people and files, such as ``missing-block-fence``."""
    return kind.name.lower().replace("_", "-")


class RingReport:
    """Base of a report, a dataclass with slots for the fields of its record that are in use.

    Attributes
    ----------
    layout : Layout
        Layout of a record, the same in every configuration.
    kinds : type of IntEnum
        Kinds of race.
    """

    __slots__: ClassVar[tuple[str, ...]] = ()

    layout: ClassVar[Layout]
    kinds: ClassVar[type[IntEnum]]
    pc: Any
    race: Any

    @classmethod
    def of_values(cls, values: dict[str, Any]) -> Self:
        """Report of values by name, among others."""
        return cls(**{name: int(values[name]) for name in cls.__slots__})

    @classmethod
    def from_record(cls, record: int) -> Self:
        """Report in a 32-byte record of the ring buffer, read as a little-endian integer."""
        return cls.of_values(cls.layout.unpack(record))

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
        """What makes a race unique when races are counted: PC and kind of race."""
        return self.pc, self.race
