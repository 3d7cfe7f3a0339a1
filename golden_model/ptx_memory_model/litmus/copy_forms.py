"""Asynchronous copies, from their suffixes and operands.

Ref: PTX ISA 9.0, Sections 9.7.9.25.3 (cp.async) and 9.7.13.15.17 (cp.async.mbarrier.arrive).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from racetrap.golden_model.ptx_memory_model.litmus.instructions import (
    AsyncCopy,
    CommitGroup,
    CopyArrive,
    WaitGroup,
)
from racetrap.golden_model.ptx_memory_model.litmus.modifiers import Modifiers
from racetrap.golden_model.ptx_memory_model.litmus.operands import Form, OperandList


def _copy(_: str, modifiers: Modifiers, operands: OperandList) -> AsyncCopy:
    modifiers.take("ca", "cg")
    if not (modifiers.take("shared", "shared::cta") and modifiers.take("global")):
        raise ValueError("cp.async copies from .global to .shared only")
    destination, source, size = operands.address(), operands.address(), operands.number()
    if size not in (4, 8, 16):
        raise ValueError(f"Size of a copy must be 4, 8 or 16, not {size}")
    return AsyncCopy(destination, source, size)


def _commit_group(_: str, modifiers: Modifiers, operands: OperandList) -> CommitGroup:
    return CommitGroup()


def _wait_group(_: str, modifiers: Modifiers, operands: OperandList) -> WaitGroup:
    pending = operands.number()
    if pending < 0:
        raise ValueError(f"Pending groups must be at least 0, not {pending}")
    return WaitGroup(pending)


def _wait_all(_: str, modifiers: Modifiers, operands: OperandList) -> WaitGroup:
    return WaitGroup()


def _copy_arrive(_: str, modifiers: Modifiers, operands: OperandList) -> CopyArrive:
    if not modifiers.take("noinc"):
        raise ValueError("cp.async.mbarrier.arrive without .noinc is not supported")
    modifiers.take("shared", "shared::cta")
    modifiers.take("b64")
    return CopyArrive(operands.address())


#: Constructors of copies and of waits for them; the longer of two names comes first.
COPY_FORMS: Mapping[str, Form] = MappingProxyType({
    "cp.async.mbarrier.arrive": _copy_arrive, "cp.async.commit_group": _commit_group,
    "cp.async.wait_group": _wait_group, "cp.async.wait_all": _wait_all, "cp.async": _copy,
})  # fmt: skip
