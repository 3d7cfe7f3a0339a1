"""Rules on the names, places and addresses of a whole litmus test.

Ref: PTX ISA 9.0, Sections 8.3 (State spaces) and 6.4.1 (Addresses as Operands: alignment).
"""

from __future__ import annotations

from collections.abc import Iterator

from racetrap.golden_model.ptx_memory_model.litmus.condition import print_observed
from racetrap.golden_model.ptx_memory_model.litmus.errors import LitmusError
from racetrap.golden_model.ptx_memory_model.litmus.instructions import (
    Address,
    AsyncCopy,
    Atomic,
    CopyArrive,
    CtaBarrier,
    Instruction,
    Load,
    MbarrierArrive,
    MbarrierWait,
    Operation,
    Store,
    WarpBarrier,
)
from racetrap.golden_model.ptx_memory_model.litmus.litmus_test import LitmusTest, Thread, Variable


def check_test(test: LitmusTest) -> None:
    """Raise ``LitmusError`` if a name is unknown, an access is outside its variable, misaligned or
    not reachable from its thread, or the condition names something unknown."""
    variables = {variable.name: variable for variable in test.variables}
    written = _written_registers(test)
    for number, thread in enumerate(test.threads):
        known_registers = {name for owner, name in written if owner == number}
        for instruction in thread.instructions:
            try:
                _check_registers(instruction, known_registers)
                _check_operation(instruction.operation, thread, variables)
            except ValueError as error:
                raise LitmusError(test.file, instruction.line, str(error)) from None
    for what in test.condition.observed():
        if isinstance(what, str):
            known = what in variables and not variables[what].is_mbarrier
        else:
            known = what[0] < len(test.threads) and what in written
        if not known:
            sentence = (
                f"Condition must name variables and written registers, not {print_observed(what)}"
            )
            raise LitmusError(test.file, 1, sentence)


def _written_registers(test: LitmusTest) -> set[tuple[int, str]]:
    written = set(test.registers)
    for number, thread in enumerate(test.threads):
        for instruction in thread.instructions:
            operation = instruction.operation
            if isinstance(operation, Load):
                written |= {(number, register) for register in operation.destinations}
            for attribute in ("destination", "state"):
                register = getattr(operation, attribute, "")
                if isinstance(register, str):
                    written.add((number, register))
    return written - {(number, name) for number in range(len(test.threads)) for name in ("", "_")}


def _check_registers(instruction: Instruction, known: set[str]) -> None:
    operation = instruction.operation
    read: list[object] = [instruction.guard.register] if instruction.guard else []
    read += [*getattr(operation, "sources", ()), *getattr(operation, "operands", ())]
    read.append(getattr(operation, "phase", 0))
    if isinstance(operation, CtaBarrier):
        read += [operation.barrier, operation.count]
        if operation.predicate is not None:
            read.append(operation.predicate.register)
    for register in read:
        if isinstance(register, str) and register not in known:
            raise ValueError(f"Register {register} is read but never written in its thread")


def _accesses(operation: Operation) -> Iterator[tuple[Address, int, str]]:
    """Address, size and state space of each access; a vector counts as one access."""
    if isinstance(operation, Load):
        width = len(operation.destinations)
        yield operation.address, operation.type.size * width, operation.access.space
    elif isinstance(operation, Store):
        width = len(operation.sources)
        yield operation.address, operation.type.size * width, operation.access.space
    elif isinstance(operation, Atomic):
        yield operation.address, operation.type.size, operation.access.space
    elif isinstance(operation, AsyncCopy):
        yield operation.destination, operation.size, "shared"
        yield operation.source, operation.size, "global"


def _check_operation(operation: Operation, thread: Thread, variables: dict[str, Variable]) -> None:
    for address, size, space in _accesses(operation):
        variable = _variable_at(address, size, variables)
        if variable.is_mbarrier:
            raise ValueError(f"An mbarrier object must be accessed by mbarrier, not {operation}")
        _check_reach(variable, space, thread, operation)
    if isinstance(operation, MbarrierArrive | MbarrierWait | CopyArrive):
        variable = _variable_at(operation.address, 8, variables)
        if not variable.is_mbarrier:
            raise ValueError(f"Address of {operation} is no mbarrier object")
        _check_reach(variable, "", thread, operation)
    if isinstance(operation, WarpBarrier) and not operation.mask >> thread.place.lane & 1:
        raise ValueError(
            f"Mask {operation.mask:#x} lacks lane {thread.place.lane} of its own thread"
        )


def _variable_at(address: Address, size: int, variables: dict[str, Variable]) -> Variable:
    if address.variable not in variables:
        raise ValueError(f"Variable {address.variable} is not declared")
    variable = variables[address.variable]
    if address.offset + size > variable.type.size:
        raise ValueError(f"Access of {size} bytes must be within its variable, not {address}")
    if address.offset % size:
        raise ValueError(f"Address of {size} bytes must be aligned, not {address}")
    return variable


def _check_reach(variable: Variable, space: str, thread: Thread, operation: Operation) -> None:
    owner = variable.owner
    if (owner is None and space.startswith("shared")) or (owner and space == "global"):
        raise ValueError(f"State space of {operation} differs from that of {variable.name}")
    levels = 3 if space == "shared" else 2
    if owner is not None and owner[:levels] != thread.place[:levels]:
        raise ValueError(f"Shared variable {variable.name} belongs to another CTA than the thread")
