"""AXI4-Lite register block built from an elaborated SystemRDL description.

Ref: SystemRDL 2.0 section 9 (fields); AMBA AXI and ACE Protocol Specification (IHI 0022),
chapter B1.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out
from systemrdl.node import AddrmapNode, FieldNode, RegNode

from racetrap.rtl.common.axi import AxiLiteSignature, AxiResponse
from racetrap.rtl.common.register_description import FieldKind, field_kind, locks_of

#: Bits of a register's byte address: every system's registers have a space of 4 KiB.
REGISTER_ADDRESS_BITS = 12
_REGISTER_BYTES = 4
_REGISTER_BITS = 8 * _REGISTER_BYTES


def _member(field: FieldNode) -> wiring.Member | None:
    """Member of the block for ``field``; None for a constant, or a lock that only software sets."""
    kind = field_kind(field)
    if kind is FieldKind.WIRE:
        return In(field.width)
    if kind is FieldKind.STORED:
        return Out(field.width, init=field.get_property("reset") or 0)
    if kind is FieldKind.PULSE:
        return Out(1)
    if kind is FieldKind.LOCK and field.get_property("hwset"):
        return In(1)
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

    A lock is set by a write of 1, or by its input, and holds until reset: a write to a register
    that it locks (``swwel``) is answered with SLVERR and changes nothing, from the cycle of the
    input on, or from the write behind the one that sets it.  If there is a register PROTECTION, an
    access whose AxPROT it does not admit is answered likewise, a read with data 0.

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
    o_refused : ``Out({reads, writes: 1})``
        Pulses: an access is refused because of PROTECTION or a lock; only with the former.
    <register> : Signature, names in lower case
        A member <field> for each field that is no constant: `In(width)` if the hardware
        supplies it, `Out(width)` if it is stored or a pulse, for a counter the inputs
        `<field>.increment` and `<field>.clear`, and for a port the input `<field>.value` and
        the outputs `<field>.data` and `<field>.strobe`, and for a lock with ``hwset`` the
        input `<field>`.

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
        #: Whether the page checks who accesses it.
        self._is_protected = "protection" in members
        if self._is_protected:
            members["o_refused"] = Out(StructLayout({"reads": 1, "writes": 1}))
        super().__init__(members)

    def supply(self, m: Module, values: Mapping[str, Mapping[str, int]]) -> None:
        """Give fields their values, as register -> field -> value."""
        for register, fields in values.items():
            for field, value in fields.items():
                m.d.comb += getattr(getattr(self, register), field).eq(value)

    def count(self, m: Module, increments: Mapping[str, ValueLike], clear: Value) -> None:
        """Connect counter registers to events by name; ``clear`` sets them to 0.

        Those of the block's own, refused accesses, are connected as well.
        """
        refused = {}
        if self._is_protected:
            refused["accesses_refused"] = self.o_refused.reads + self.o_refused.writes
        for name, increment in {**increments, **refused}.items():
            counter = getattr(self, name).count
            m.d.comb += [counter.increment.eq(increment), counter.clear.eq(clear)]

    def elaborate(self, platform):
        m = Module()
        self._locks: dict[str, Value] = {}
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
            elif kind is FieldKind.LOCK:
                name = f"{register.inst_name}_{field.inst_name}".lower()
                values.append(held := Signal(name=name))
                self._locks[field.get_path()] = (
                    held | self._port(field) if field.get_property("hwset") else held
                )
            elif kind is FieldKind.PORT:
                values.append(self._port(field).value)
            else:
                values.append(self._port(field))
        return values

    def _admits(self, kind: str, prot: Value) -> Value:
        """Whether PROTECTION admits ``reads`` or ``writes`` with this AxPROT."""
        needs_privilege, needs_security = (
            getattr(self.protection, f"{rule}_{kind}") for rule in ("privileged", "secure")
        )
        return (prot[0] | ~needs_privilege) & (~prot[1] | ~needs_security)

    def _is_locked(self, address: Value) -> Value:
        """Whether a lock keeps software from writing the register with this number."""
        return Cat(
            (address == register.address_offset // _REGISTER_BYTES)
            & Cat(self._locks[lock.get_path()] for lock in locks).any()
            for register in self._registers
            if (locks := locks_of(register))
        ).any()

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
        if self._is_protected:
            admitted = self._admits("reads", axi.arprot)
            data, hit = Mux(admitted, data, 0), hit & admitted
            m.d.comb += self.o_refused.reads.eq(axi.arvalid & axi.arready & ~admitted)
        with m.If(axi.arvalid & axi.arready):
            m.d.sync += [
                axi.rvalid.eq(1),
                axi.rdata.eq(data),
                axi.rresp.eq(Mux(hit, AxiResponse.OKAY, AxiResponse.SLVERR)),
            ]
        with m.Elif(axi.rready):
            m.d.sync += axi.rvalid.eq(0)

    def _elaborate_write(self, m: Module) -> tuple[Value, Value, Value, Value]:
        """Write channels; gives the strobe of a write that is not refused, its register number,
        data and bit mask."""
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
        is_taken: Value = write
        if self._is_protected:
            prot = Signal(3)
            with m.If(axi.awvalid & axi.awready):
                m.d.sync += prot.eq(axi.awprot)
            admitted = self._admits("writes", prot) & ~self._is_locked(address)
            is_taken, hit = write & admitted, hit & admitted
            m.d.comb += self.o_refused.writes.eq(write & ~admitted)
        with m.If(write):
            m.d.sync += [
                have_address.eq(0),
                have_data.eq(0),
                axi.bvalid.eq(1),
                axi.bresp.eq(Mux(hit, AxiResponse.OKAY, AxiResponse.SLVERR)),
            ]
        return is_taken, address, data, Cat(bit.replicate(8) for bit in strobe)

    def _elaborate_field(
        self, m: Module, field: FieldNode, value: Value, selected: Value, data: Value, mask: Value
    ) -> None:
        kind = field_kind(field)
        if kind is FieldKind.STORED:
            with m.If(selected):
                m.d.sync += value.eq((value & ~mask) | (data & mask))
        elif kind is FieldKind.PULSE:
            m.d.sync += value.eq(selected & data & mask)
        elif kind is FieldKind.LOCK:
            m.d.sync += value.eq(self._locks[field.get_path()] | (selected & data & mask))
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
