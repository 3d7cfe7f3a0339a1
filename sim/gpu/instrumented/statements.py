"""Statements that instrumented code consists of.

Ref: PTX ISA 9.0, Sections 7.1 (functions) and 9.7.13.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

from racetrap.sim.gpu.executor.arithmetic.scalars import SCALARS, Scalar
from racetrap.sim.gpu.ptx.module import Immediate, Operand, Register

#: Registers of each instrumented function: lanes, and those before a guard; whether the log is
#: full, and whether a CAS stored; half a value; address, both values of an access, and one more.
REGISTERS = (
    "\n.reg .b32 %racetrap_m, %racetrap_g, %racetrap_r, %racetrap_f, %racetrap_h;"
    "\n.reg .b64 %racetrap_a, %racetrap_v, %racetrap_c, %racetrap_w;"
    "\n.reg .b16 %racetrap_b; .reg .pred %racetrap_p;\n"
)
#: Bits of a site's number that say where its address is, and that its records are brief.
GENERIC, SHARED, BRIEF = 1 << 31, 1 << 30, 1 << 29
_ADDRESS, _VALUE, _COMPARE, _OTHER = (f"%racetrap_{letter}" for letter in "avcw")
_ACTIVE = "activemask.b32 %racetrap_m;"


class Word(NamedTuple):
    """An operand and its text.

    Parameters
    ----------
    operand : Operand
        The operand, resolved.
    text : str
        It as written.
    """

    operand: Operand
    text: str


def _record(site: int, logs_values: bool, flag: str = "0") -> list[str]:
    """Code that logs a record, for the lanes in ``%racetrap_m``."""
    values = [_ADDRESS, _VALUE, _COMPARE] if logs_values else ["0", "0", "0"]
    types = [32, 32, 64, 64, 64, 32]
    arguments = [str(site), "%racetrap_m", *values, flag]
    names = [f"racetrap_{number}" for number in range(len(types))]
    return [
        "{",
        *(f".param .b{bits} {name};" for bits, name in zip(types, names, strict=True)),
        ".param .b32 racetrap_full;",
        *(
            f"st.param.b{bits} [{name}], {value};"
            for bits, name, value in zip(types, names, arguments, strict=True)
        ),
        f"call (racetrap_full), racetrap_record, ({', '.join(names)});",
        "ld.param.b32 %racetrap_r, [racetrap_full];",
        "}",
    ]


#: What follows a record: threads end where the log does.
_END_IF_FULL = ["setp.ne.u32 %racetrap_p, %racetrap_r, 0;", "@%racetrap_p exit;"]


def _lock(function: str) -> list[str]:
    """Code that takes the lock or passes it on, by ``racetrap_enter`` or ``racetrap_leave``."""
    return [
        "{", ".param .b32 racetrap_0;", "st.param.b32 [racetrap_0], %racetrap_m;",
        f"call {function}, (racetrap_0);", "}",
    ]  # fmt: skip


def logged(site: int, values: Sequence[str], rest: Sequence[str]) -> list[str]:
    """Code that logs a record, and then goes on."""
    return [*values, _ACTIVE, *_record(site, bool(values)), *_END_IF_FULL, *rest]


def locked(site: int, values: Sequence[str], inside: Sequence[str], flag: str) -> list[str]:
    """Code that runs statements under the lock, and logs them there."""
    return [
        *values, _ACTIVE, *_lock("racetrap_enter"), *inside, *_record(site, True, flag),
        *_lock("racetrap_leave"), *_END_IF_FULL,
    ]  # fmt: skip


def address(base: Word | None, offset: int) -> list[str]:
    """Code that puts an address into ``%racetrap_a``."""
    if base is None:
        return [f"mov.u64 {_ADDRESS}, {offset};"]
    if isinstance(base.operand, Register) and SCALARS[base.operand.type].bits < 64:
        put = f"cvt.u64.u32 {_ADDRESS}, {base.text};"
    else:
        put = f"mov.u64 {_ADDRESS}, {base.text};"
    return [put, *([f"add.s64 {_ADDRESS}, {_ADDRESS}, {offset};"] if offset else [])]


def values(words: Sequence[Word], kind: Scalar) -> list[str]:
    """Code that puts the values of an access, one after the other, into two registers of 64
    bits."""
    lines = [f"mov.u64 {_VALUE}, 0;", f"mov.u64 {_COMPARE}, 0;"]
    for number, word in enumerate(words):
        target, shift = divmod(number * kind.bits, 64)
        value = (_VALUE, _COMPARE)[target]
        lines += [
            *_bits(word, kind),
            *([f"shl.b64 {_OTHER}, {_OTHER}, {shift};"] if shift else []),
            f"or.b64 {value}, {value}, {_OTHER};",
        ]  # fmt: skip
    return lines


def compared(word: Word, kind: Scalar) -> list[str]:
    """Code that puts the value that a CAS expects into ``%racetrap_c``."""
    return [*_bits(word, kind), f"mov.u64 {_COMPARE}, {_OTHER};"]


def success(word: Word, kind: Scalar) -> list[str]:
    """Code that puts into ``%racetrap_f`` whether a CAS has returned what it expects."""
    return [
        *_bits(word, kind), f"setp.eq.u64 %racetrap_p, {_OTHER}, {_COMPARE};",
        "selp.b32 %racetrap_f, 1, 0, %racetrap_p;",
    ]  # fmt: skip


def _bits(word: Word, kind: Scalar) -> list[str]:
    """Code that puts the bits of a value of a type into ``%racetrap_w``."""
    mask = [f"and.b64 {_OTHER}, {_OTHER}, {(1 << kind.bits) - 1};"] if kind.bits < 64 else []
    match word.operand:
        case Immediate(value=float(value)):
            bits = struct.pack(">d" if kind.bits == 64 else ">f", value).hex()
            return [f"mov.u64 {_OTHER}, 0x{bits};"]
        case Immediate(value=value):
            return [f"mov.u64 {_OTHER}, {int(value) & (1 << kind.bits) - 1};"]
        case Register(type=held):
            return [*_widened(word.text, held), *mask]
    return [f"mov.b64 {_OTHER}, {word.text};", *mask]


def _widened(register: str, held: str) -> list[str]:
    bits = {"f16x2": 32, "bf16x2": 32, "bf16": 16, "f16": 16}.get(held) or SCALARS[held].bits
    if bits == 64:
        return [f"mov.b64 {_OTHER}, {register};"]
    if bits == 32:
        return [f"mov.b32 %racetrap_h, {register};", f"cvt.u64.u32 {_OTHER}, %racetrap_h;"]
    return [f"mov.b16 %racetrap_b, {register};", f"cvt.u64.u16 {_OTHER}, %racetrap_b;"]
