"""Operands of an instruction, taken one by one.

Ref: PTX ISA 9.0, Section 6 (Instruction Operands).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from racetrap.golden_model.ptx_memory_model.litmus.instructions import (
    Address,
    Operand,
    Operation,
    Predicate,
)
from racetrap.golden_model.ptx_memory_model.litmus.modifiers import Modifiers


class OperandList:
    """Operands of an instruction, taken from the left.

    Parameters
    ----------
    opcode : str
        The opcode, for messages.
    operands : sequence
        Registers and ``_`` as strings, numbers, ``Address``, negated ``Predicate``, vectors as
        tuples.
    """

    def __init__(self, opcode: str, operands: Sequence[object]) -> None:
        self._opcode, self._left = opcode, list(operands)

    def _next(self, what: str, *kinds: type) -> object:
        if not self._left:
            raise ValueError(f"Instruction {self._opcode} lacks {what}")
        operand = self._left.pop(0)
        if not isinstance(operand, kinds):
            raise ValueError(f"Operand of {self._opcode} must be {what}, not {operand}")
        return operand

    def address(self) -> Address:
        """An address."""
        address = self._next("an address", Address)
        assert isinstance(address, Address)
        return address

    def register(self) -> str:
        """A register that is written."""
        register = self._next("a register", str)
        assert isinstance(register, str)
        return register

    def value(self) -> Operand:
        """A register that is read, or a constant."""
        value = self._next("a register or a number", str, int)
        assert isinstance(value, str | int)
        if value == "_":
            raise ValueError(f"Operand of {self._opcode} must be a register or a number, not _")
        return value

    def number(self) -> int:
        """A constant."""
        number = self._next("a number", int)
        assert isinstance(number, int)
        return number

    def predicate(self) -> Predicate:
        """A predicate, possibly negated."""
        operand = self._next("a predicate", str, Predicate)
        return operand if isinstance(operand, Predicate) else Predicate(str(operand))

    def vector(self, width: int) -> tuple[Operand, ...]:
        """Operands of a vector, or a single one without braces."""
        if width == 1:
            return (self.value(),)
        elements = self._next(f"a vector of {width}", tuple)
        assert isinstance(elements, tuple)
        if len(elements) != width:
            raise ValueError(f"Vector of {self._opcode} must have {width}, not {len(elements)}")
        taken = OperandList(self._opcode, elements)
        return tuple(taken.value() for _ in range(width))

    def count_left(self) -> int:
        """How many are left."""
        return len(self._left)

    def finish(self) -> None:
        """Raise ``ValueError`` if any are left."""
        if self._left:
            raise ValueError(f"Operand {self._left[0]} of {self._opcode} is one too many")


#: Constructor of an instruction from its name, suffixes and operands.
Form = Callable[[str, Modifiers, OperandList], Operation]
