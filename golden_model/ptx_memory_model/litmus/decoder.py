"""Decoder from opcode and operands to an instruction of a litmus test.

Ref: PTX ISA 9.0, Sections 8.6 (Proxies) and 9.7 (Instructions).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from racetrap.golden_model.checks import unknown_name
from racetrap.golden_model.ptx_memory_model.litmus.barrier_forms import BARRIER_FORMS
from racetrap.golden_model.ptx_memory_model.litmus.copy_forms import COPY_FORMS
from racetrap.golden_model.ptx_memory_model.litmus.instructions import Operation
from racetrap.golden_model.ptx_memory_model.litmus.memory_forms import (
    ARITHMETIC_FORMS,
    MEMORY_FORMS,
)
from racetrap.golden_model.ptx_memory_model.litmus.modifiers import Modifiers
from racetrap.golden_model.ptx_memory_model.litmus.operands import Form, OperandList

#: Prefixes of opcodes that use another than the generic proxy, with the proxy's name.
_OTHER_PROXIES = MappingProxyType({
    "cp.async.bulk": "async", "cp.reduce.async.bulk": "async", "wgmma": "async",
    "tcgen05": "async", "tex": "texture", "tld4": "texture", "suld": "surface",
    "sust": "surface", "sured": "surface", "multimem": "multimem",
})  # fmt: skip

#: Constructor of each instruction from its name, suffixes and operands.
_FORMS: Mapping[str, Form] = MappingProxyType(
    {**MEMORY_FORMS, **BARRIER_FORMS, **COPY_FORMS, **ARITHMETIC_FORMS}
)


def decode(opcode: str, operands: Sequence[object]) -> Operation:
    """Make an instruction.

    Parameters
    ----------
    opcode : str
        Name with suffixes.
    operands : sequence
        Registers and ``_`` as strings, numbers, ``Address``, negated ``Predicate``, vectors as
        tuples.

    Raises
    ------
    ValueError
        If the model does not cover the instruction, or it is not PTX.
    """
    _refuse_other_proxies(opcode)
    for name, form in _FORMS.items():
        if opcode == name or opcode.startswith(f"{name}."):
            suffixes = opcode[len(name) :].split(".")[1:]
            modifiers, taken = Modifiers(opcode, suffixes), OperandList(opcode, operands)
            operation = form(name, modifiers, taken)
            modifiers.finish()
            taken.finish()
            return operation
    raise ValueError(unknown_name("instruction", opcode, sorted(_FORMS)))


def _refuse_other_proxies(opcode: str) -> None:
    parts = opcode.split(".")
    proxy = next((_OTHER_PROXIES[name] for name in _OTHER_PROXIES if opcode.startswith(name)), "")
    if parts[0] == "ld" and "nc" in parts:
        proxy = "texture"
    if parts[0] == "ld" and "const" in parts:
        proxy = "constant"
    if "proxy" in parts:
        proxy = ".".join(parts[parts.index("proxy") + 1 :])
    if proxy:
        raise ValueError(f"Proxy {proxy} of {opcode} is not supported: only the generic proxy is")
