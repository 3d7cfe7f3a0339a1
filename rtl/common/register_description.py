"""Register descriptions in SystemRDL: the address map of an instance, and the kinds of its fields.

Ref: SystemRDL 2.0 section 9 (fields).
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cache
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

from systemrdl import RDLCompiler
from systemrdl.node import AddrmapNode, FieldNode, RegNode
from systemrdl.rdltypes import OnWriteType

_INCLUDE = re.compile(r'^ *`include "(.+)"\n', re.MULTILINE)


def description_text(path: Path, **parameters: int) -> str:
    """A SystemRDL file with what it includes, and with other defaults of its parameters.

    Given to the compiler, they would become part of every name.
    """
    text = _INCLUDE.sub(
        lambda found: (path.parent / found[1]).read_text(encoding="utf-8"),
        path.read_text(encoding="utf-8"),
    )
    for name, value in parameters.items():
        text = re.sub(rf"(\b{name} = )\w+", rf"\g<1>{str(value).lower()}", text)
    return text


@cache
def compile_description(path: Path, **parameters: int) -> AddrmapNode:
    """The elaborated address map of a SystemRDL file, with values for its parameters."""
    compiler = RDLCompiler()
    with TemporaryDirectory() as folder:
        given = Path(folder) / path.name
        given.write_text(description_text(path, **parameters), encoding="utf-8")
        compiler.compile_file(str(given))
        return compiler.elaborate().top


def version_fields() -> dict[str, int]:
    """Fields of a register that gives the version of this package."""
    major, minor, patch = (int(part) for part in metadata.version("racetrap").split(".")[:3])
    return {"major": major, "minor": minor, "patch": patch}


def identity_values(node: AddrmapNode, params: object, **others: int) -> dict[str, dict[str, int]]:
    """Values of the registers VERSION and PARAMS_*, as register -> field -> value.

    Parameters
    ----------
    node : AddrmapNode
        Elaborated address map.
    params : object
        Parameters of the instance: a field is the parameter of its name.
    others : int
        Fields that are no parameter.
    """
    values = {
        register.inst_name.lower(): {
            field.inst_name: int({**vars(params), **others}[field.inst_name])
            for field in register.fields()
        }
        for register in node.registers()
        if register.inst_name.startswith("PARAMS_")
    }
    return {"version": version_fields()} | values


class FieldKind(Enum):
    """What a field is in hardware; the value is what its member of the block looks like."""

    CONSTANT = "no member"
    WIRE = "input"
    STORED = "output"
    PULSE = "output, high for one cycle"
    LOCK = "input that sets it, if it has hwset"
    COUNTER = "inputs `increment` and `clear`"
    PORT = "input `value`, outputs `data` and `strobe`"


def field_kind(field: FieldNode) -> FieldKind:
    """The hardware that a SystemRDL field needs.

    Raises
    ------
    ValueError
        If the field's properties are a combination that the block does not have.
    """
    if field.get_property("counter") and field.get_property("hwclr") is True:
        kind = FieldKind.COUNTER
    elif field.get_property("singlepulse"):
        kind = FieldKind.PULSE
    elif field.get_property("onwrite") is OnWriteType.woset and field.is_sw_readable:
        kind = FieldKind.LOCK
    elif field.get_property("swmod") and field.is_sw_writable and field.is_hw_writable:
        kind = FieldKind.PORT
    elif field.is_sw_writable and field.is_hw_readable and not field.is_hw_writable:
        kind = FieldKind.STORED
    elif field.is_hw_writable and not field.is_hw_readable and not field.is_sw_writable:
        kind = FieldKind.WIRE
    elif isinstance(field.get_property("reset"), int) and not (
        field.is_sw_writable or field.is_hw_writable
    ):
        kind = FieldKind.CONSTANT
    else:
        raise ValueError(
            f"Register field {field.get_path()} must be a constant, a hardware input, a stored "
            f"value, a single pulse, a counter with hwclr, a lock with woset or a port with swmod, "
            f"not sw={field.get_property('sw').name} hw={field.get_property('hw').name}"
        )
    return kind


def locks_of(register: RegNode) -> list[FieldNode]:
    """Fields of which each, if it is 1, keeps software from writing a register."""
    locks = {
        lock.get_path(): lock
        for field in register.fields()
        if isinstance(lock := field.get_property("swwel"), FieldNode)
    }
    return list(locks.values())
