"""AXI4-Lite register block built from an elaborated SystemRDL description.

Ref: SystemRDL 2.0 section 9 (fields); AMBA AXI and ACE Protocol Specification (IHI 0022),
chapter B1.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from enum import Enum
from functools import cache, reduce
from importlib import metadata
from operator import or_
from pathlib import Path
from tempfile import TemporaryDirectory

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from systemrdl import RDLCompiler
from systemrdl.node import AddrmapNode, FieldNode, RegNode

from racetrap.rtl.common.axi import AxiLiteSignature, AxiResponse

#: Bits of a register's byte address: every system's registers have a space of 4 KiB.
REGISTER_ADDRESS_BITS = 12
_REGISTER_BYTES = 4
_REGISTER_BITS = 8 * _REGISTER_BYTES


def description_text(path: Path, **parameters: int) -> str:
    """A SystemRDL file with other defaults of its parameters.

    Given to the compiler, they would become part of every name.
    """
    text = path.read_text(encoding="utf-8")
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
            f"value, a single pulse, a counter with hwclr or a port with swmod, "
            f"not sw={field.get_property('sw').name} hw={field.get_property('hw').name}"
        )
    return kind


def _member(field: FieldNode) -> wiring.Member | None:
    """Member of the block for ``field``; None for a constant."""
    kind = field_kind(field)
    if kind is FieldKind.WIRE:
        return In(field.width)
    if kind is FieldKind.STORED:
        return Out(field.width, init=field.get_property("reset") or 0)
    if kind is FieldKind.PULSE:
        return Out(1)
    if kind is FieldKind.COUNTER:
        width = field.get_property("incrwidth") or 1
        return Out(wiring.Signature({"increment": In(width), "clear": In(1)}))
    if kind is FieldKind.PORT:
        width = field.width
        return Out(wiring.Signature({"value": In(width), "data": Out(width), "strobe": Out(1)}))
    return None


class RegisterBlock(wiring.Component):
    """32-bit registers behind AXI4-Lite.

    Every register takes one access at a time.  A read is answered in the cycle after its address, a
    write in the cycle after the later of its address and its data, which may come in any order; the
    throughput is one access of each direction every second cycle.  A read is accepted only after
    the previous read's data was taken.  Address and data of one more write are accepted before a
    write's response was taken; they take effect after it.  An address without a register, a write
    to a register without a writable field and a read of a register without a readable field are
    answered with SLVERR and change nothing.  No `ready` depends on a `valid`.

    A stored field changes in the cycle after the write is taken; a single pulse is high in that
    cycle.  A counter adds `increment` every cycle, stops at its largest value if the description
    says ``incrsaturate`` and wraps otherwise; `clear` wins over `increment`.  A port is a value
    stored elsewhere: it is read from `value`, and in the cycle after a write is taken `strobe` is
    high and `data` is the value written (bytes without strobe come from `value`).

    Parameters
    ----------
    node : AddrmapNode
        Elaborated address map of registers of 32 bits, without arrays and register files.
    names : collection of str or None
        Registers of the map to build; all of them if ``None``.

    Members
    -------
    s_axil : ``In(AxiLiteSignature)``
        Registers.
    <register> : Signature, names in lower case
        A member <field> for each field that is no constant: `In(width)` if the hardware
        supplies it, `Out(width)` if it is stored or a pulse, for a counter the inputs
        `<field>.increment` and `<field>.clear`, and for a port the input `<field>.value` and
        the outputs `<field>.data` and `<field>.strobe`.

    Raises
    ------
    ValueError
        If a register is not 32 bits wide or a field needs hardware that the block lacks.
    """

    def __init__(self, node: AddrmapNode, *, names: Collection[str] | None = None):
        self._registers = [
            register
            for register in node.registers()
            if names is None or register.inst_name in names
        ]
        members: dict[str, wiring.Member] = {
            "s_axil": In(AxiLiteSignature(address_bits=REGISTER_ADDRESS_BITS))
        }
        for register in self._registers:
            if register.get_property("regwidth") != _REGISTER_BITS:
                raise ValueError(
                    f"Register {register.get_path()} must be {_REGISTER_BITS} bits wide, "
                    f"not {register.get_property('regwidth')}"
                )
            if register.address_offset >= 1 << REGISTER_ADDRESS_BITS:
                raise ValueError(
                    f"Register {register.get_path()} must lie below "
                    f"{1 << REGISTER_ADDRESS_BITS:#x}, not at {register.address_offset:#x}"
                )
            fields = {
                field.inst_name.lower(): member
                for field in register.fields()
                if (member := _member(field)) is not None
            }
            if fields:
                members[register.inst_name.lower()] = Out(wiring.Signature(fields))
        super().__init__(members)

    def supply(self, m: Module, values: Mapping[str, Mapping[str, int]]) -> None:
        """Give fields their values, as register -> field -> value."""
        for register, fields in values.items():
            for field, value in fields.items():
                m.d.comb += getattr(getattr(self, register), field).eq(value)

    def count(self, m: Module, increments: Mapping[str, ValueLike], clear: Value) -> None:
        """Connect counter registers to events by name; ``clear`` sets them to 0."""
        for name, increment in increments.items():
            counter = getattr(self, name).count
            m.d.comb += [counter.increment.eq(increment), counter.clear.eq(clear)]

    def elaborate(self, platform):
        m = Module()
        values = [self._field_values(m, register) for register in self._registers]
        self._elaborate_read(m, values)
        write, address, data, mask = self._elaborate_write(m)
        for register, fields in zip(self._registers, values, strict=True):
            selected = write & (address == register.address_offset // _REGISTER_BYTES)
            for field, value in zip(register.fields(), fields, strict=True):
                part = slice(field.lsb, field.lsb + field.width)
                self._elaborate_field(m, field, value, selected, data[part], mask[part])
        return m

    def _port(self, field: FieldNode):
        return getattr(getattr(self, field.parent.inst_name.lower()), field.inst_name.lower())

    def _field_values(self, m: Module, register: RegNode) -> list[Value]:
        """What software reads from each field of ``register``."""
        values: list[Value] = []
        for field in register.fields():
            kind = field_kind(field)
            if kind is FieldKind.CONSTANT:
                values.append(Const(field.get_property("reset"), field.width))
            elif kind is FieldKind.COUNTER:
                name = f"{register.inst_name}_{field.inst_name}".lower()
                values.append(Signal(field.width, name=name, init=field.get_property("reset") or 0))
            elif kind is FieldKind.PORT:
                values.append(self._port(field).value)
            else:
                values.append(self._port(field))
        return values

    def _elaborate_read(self, m: Module, values: list[list[Value]]) -> None:
        axi = self.s_axil
        data = Signal(_REGISTER_BITS)
        hit = Signal()
        with m.Switch(axi.araddr[2:]):
            for register, fields in zip(self._registers, values, strict=True):
                if not register.has_sw_readable:
                    continue
                with m.Case(register.address_offset // _REGISTER_BYTES):
                    word = [
                        value.shift_left(field.lsb)
                        for field, value in zip(register.fields(), fields, strict=True)
                        # A pulse has ended when it could be read.
                        if field.is_sw_readable and field_kind(field) is not FieldKind.PULSE
                    ]
                    m.d.comb += [data.eq(reduce(or_, word, Const(0))), hit.eq(1)]
        m.d.comb += axi.arready.eq(~axi.rvalid)
        with m.If(axi.arvalid & axi.arready):
            m.d.sync += [
                axi.rvalid.eq(1),
                axi.rdata.eq(data),
                axi.rresp.eq(Mux(hit, AxiResponse.OKAY, AxiResponse.SLVERR)),
            ]
        with m.Elif(axi.rready):
            m.d.sync += axi.rvalid.eq(0)

    def _elaborate_write(self, m: Module) -> tuple[Value, Value, Value, Value]:
        """Write channels; gives the strobe of a write, its register number, data and bit mask."""
        axi = self.s_axil
        address = Signal(len(axi.awaddr) - 2)
        data = Signal(_REGISTER_BITS)
        strobe = Signal(_REGISTER_BYTES)
        have_address = Signal()
        have_data = Signal()
        write = Signal()
        hit = Signal()
        writable = [
            register.address_offset // _REGISTER_BYTES
            for register in self._registers
            if register.has_sw_writable
        ]
        m.d.comb += [
            axi.awready.eq(~have_address),
            axi.wready.eq(~have_data),
            write.eq(have_address & have_data & ~axi.bvalid),
            hit.eq(address.matches(*writable)),
        ]
        with m.If(axi.bvalid & axi.bready):
            m.d.sync += axi.bvalid.eq(0)
        with m.If(axi.awvalid & axi.awready):
            m.d.sync += [have_address.eq(1), address.eq(axi.awaddr[2:])]
        with m.If(axi.wvalid & axi.wready):
            m.d.sync += [have_data.eq(1), data.eq(axi.wdata), strobe.eq(axi.wstrb)]
        with m.If(write):
            m.d.sync += [
                have_address.eq(0),
                have_data.eq(0),
                axi.bvalid.eq(1),
                axi.bresp.eq(Mux(hit, AxiResponse.OKAY, AxiResponse.SLVERR)),
            ]
        return write, address, data, Cat(bit.replicate(8) for bit in strobe)

    def _elaborate_field(
        self, m: Module, field: FieldNode, value: Value, selected: Value, data: Value, mask: Value
    ) -> None:
        kind = field_kind(field)
        if kind is FieldKind.STORED:
            with m.If(selected):
                m.d.sync += value.eq((value & ~mask) | (data & mask))
        elif kind is FieldKind.PULSE:
            m.d.sync += value.eq(selected & data & mask)
        elif kind is FieldKind.PORT:
            port = self._port(field)
            m.d.sync += [port.strobe.eq(selected), port.data.eq((value & ~mask) | (data & mask))]
        elif kind is FieldKind.COUNTER:
            port = self._port(field)
            total = Signal(field.width + 1)
            m.d.comb += total.eq(value + port.increment)
            saturate = total[-1] & bool(field.get_property("incrsaturate"))
            with m.If(port.clear):
                m.d.sync += value.eq(0)
            with m.Else():
                m.d.sync += value.eq(total[:-1] | saturate.replicate(field.width))
