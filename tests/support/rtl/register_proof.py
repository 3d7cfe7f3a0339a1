"""Harness for proofs on the register block: a free manager and free hardware beside it.

What each field must hold is written from the properties of its description; the block's own notion
of kinds has no part in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In
from systemrdl.node import AddrmapNode, FieldNode
from systemrdl.rdltypes import OnWriteType

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.scord.registers import compile_registers
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.axi import stays
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness, Proof
from tests.support.formal.prover import holds_always
from tests.support.planted_bugs import modules_with
from tests.support.rtl.small_registers import DESCRIPTION, compile_text

FILE = "common/registers.py"
_OKAY, _SLVERR = 0, 2


def small_registers() -> AddrmapNode:
    """A register of every kind."""
    with TemporaryDirectory() as folder:
        return compile_text(Path(folder), DESCRIPTION)


class RegisterHarness(Harness):
    """A register block with free inputs.

    Parameters
    ----------
    node : AddrmapNode
        Its description.
    case : Case
        What is asked.
    part : str
        Which rules: ``"responses"``, ``"writes"`` or ``"reads"``.
    """

    def __init__(self, node: AddrmapNode, case: Case, part: str):
        self._part, self._node = part, node
        self.block = modules_with([FILE], case.bug)[FILE].RegisterBlock(node)
        self._fields = [field for register in node.registers() for field in register.fields()]
        inputs: dict[str, Any] = {}
        for field in self._fields:
            if _is_counter(field):
                inputs[f"{_name(field)}_increment"] = In(field.get_property("incrwidth") or 1)
                inputs[f"{_name(field)}_clear"] = In(1)
            elif field.get_property("hwset"):
                inputs[_name(field)] = In(1)
            elif field.is_hw_writable:
                inputs[_name(field)] = In(field.width)
        super().__init__(case, {
            "i_awvalid": In(1), "i_wvalid": In(1), "i_arvalid": In(1), "i_bready": In(1),
            "i_rready": In(1), "i_awaddr": In(12), "i_araddr": In(12), "i_wdata": In(32),
            "i_wstrb": In(4), "i_awprot": In(3), "i_arprot": In(3), **inputs,
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        axi = self.block.s_axil
        self.inner = OpenComponent(self.block)
        m.submodules.block = self.inner.fragment
        m.d.comb += [
            getattr(axi, name).eq(getattr(self, f"i_{name}"))
            for name in ("awvalid", "wvalid", "arvalid", "bready", "rready", "awaddr", "araddr",
                         "wdata", "wstrb", "awprot", "arprot")
        ]  # fmt: skip
        self._elaborate_requests(m)
        self._elaborate_protection(m)
        self._elaborate_fields(m)
        rules, events = {
            "responses": self._responses, "writes": self._writes, "reads": self._reads,
        }[self._part](m)  # fmt: skip
        self.state(m, rules, events, self._helps())
        return m

    def _elaborate_requests(self, m: Module) -> None:
        """Addresses and data without a response yet, and the write that they make together."""
        axi = self.block.s_axil
        takes = {
            name: getattr(axi, f"{name}valid") & getattr(axi, f"{name}ready")
            for name in ("aw", "w", "ar", "b", "r")
        }
        self.owed = {name: Signal(2, name=f"{name}_owed") for name in ("aw", "w", "ar")}
        for name, owed in self.owed.items():
            answer = takes["r" if name == "ar" else "b"]
            m.d.sync += owed.eq(owed + takes[name] - answer)
        # Not yet written: all but the one whose response waits.
        self.has = {
            name: (self.owed[name] - axi.bvalid)[:2] != 0 for name in ("aw", "w")
        }  # fmt: skip
        self.address, self.data, self.strobe = Signal(10), Signal(32), Signal(4)
        self.prot = Signal(3)
        with m.If(takes["aw"]):
            m.d.sync += [self.address.eq(axi.awaddr[2:]), self.prot.eq(axi.awprot)]
        with m.If(takes["w"]):
            m.d.sync += [self.data.eq(axi.wdata), self.strobe.eq(axi.wstrb)]
        self.writes = self.has["aw"] & self.has["w"] & ~axi.bvalid
        self.answered, self.read = Signal(10), Signal(10)  # addresses of the last write and read
        self.expected, self.takes = Signal(32), takes
        with m.If(self.writes):
            m.d.sync += self.answered.eq(self.address)

    def _elaborate_protection(self, m: Module) -> None:
        """Which read and which write may be refused, if the description has what refuses them."""
        self.locks: dict[str, Signal] = {}
        for field in self._fields:
            if field.get_property("onwrite") is OnWriteType.woset:
                self.locks[_name(field)] = Signal(name=f"lock_{_name(field)}")
        self.is_open, self.may_read, self.may_write = (
            Signal(name=name) for name in ("is_open", "may_read", "may_write")
        )
        # Of a register that is locked, no bit is written.
        locked = []
        for field in self._fields:
            if isinstance(lock := field.get_property("swwel"), FieldNode):
                held = self.locks[_name(lock)]
                if lock.get_property("hwset"):
                    held = held | getattr(self, _name(lock))
                locked.append((self.address == field.parent.address_offset // 4) & held)
        m.d.comb += [
            self.is_open.eq(~Cat(locked).any()),
            self.may_write.eq(self.is_open & self._is_admitted("writes", self.prot)),
            self.may_read.eq(self._is_admitted("reads", self.block.s_axil.arprot)),
        ]

    def _is_admitted(self, kind: str, prot: Value) -> Value:
        """Whether an access is privileged and secure, as far as it must be."""
        if not self.locks:
            return Const(1)
        page = self.block.protection
        privileged, non_secure = prot[0], prot[1]
        return ~(
            (getattr(page, f"privileged_{kind}") & ~privileged)
            | (getattr(page, f"secure_{kind}") & non_secure)
        )

    def _elaborate_fields(self, m: Module) -> None:
        """What each field holds, and what software reads of it."""
        self.shadows: dict[str, Signal] = {}
        self.counters: dict[str, Signal] = {}
        self.wraps = Signal()  # a counter that does not stop has wrapped
        self.reads: dict[int, Value] = {}
        mask = Cat(bit.replicate(8) for bit in self.strobe)
        for register in self._node.registers():
            word = []
            number = register.address_offset // 4
            for field in register.fields():
                part = slice(field.lsb, field.lsb + field.width)
                hit = self.writes & self.may_write & (self.address == number)
                value = self._elaborate_field(m, field, hit, self.data[part], mask[part])
                if field.is_sw_readable and value is not None:
                    word.append(value.shift_left(field.lsb))
            if register.has_sw_readable:
                self.reads[number] = reduce(or_, word, Const(0, 32))
        with m.If(self.takes["ar"]):
            m.d.sync += [self.read.eq(self.block.s_axil.araddr[2:]), self.expected.eq(0)]
            for number, value in self.reads.items():
                with m.If((self.block.s_axil.araddr[2:] == number) & self.may_read):
                    m.d.sync += self.expected.eq(value)

    def _elaborate_field(self, m: Module, field: FieldNode, hit: Value, data: Value, mask: Value):
        """What software reads from a field; its shadow, if it is known from writes."""
        name, width, reset = _name(field), field.width, field.get_property("reset") or 0
        shadow = Signal(width, init=reset, name=f"shadow_{name}")
        if _is_counter(field):
            port = self._port(field)
            more, clear = getattr(self, f"{name}_increment"), getattr(self, f"{name}_clear")
            m.d.comb += [port.increment.eq(more), port.clear.eq(clear)]
            most = (1 << width) - 1
            added = shadow + more
            stops = field.get_property("incrsaturate") is True
            after = Mux(added > most, most, added) if stops else added[:width]
            m.d.sync += shadow.eq(Mux(clear, 0, after))
            if not stops:
                m.d.sync += self.wraps.eq((added > most) & ~clear)
            self.counters[name] = shadow
            return shadow
        if name in self.locks:
            lock = self.locks[name]
            m.d.sync += lock.eq(lock | (hit & data & mask))
            if field.get_property("hwset"):
                m.d.comb += self._port(field).eq(getattr(self, name))
                with m.If(getattr(self, name)):
                    m.d.sync += lock.eq(1)
            return lock
        if field.is_hw_writable and field.is_sw_writable:
            port, given = self._port(field), getattr(self, name)
            m.d.comb += port.value.eq(given)
            strobe = Signal(name=f"strobe_{name}")
            m.d.sync += [strobe.eq(hit), shadow.eq((given & ~mask) | (data & mask))]
            self.shadows[f"{name}__strobe"], self.shadows[f"{name}__data"] = strobe, shadow
            return given
        if field.is_hw_writable:
            m.d.comb += self._port(field).eq(getattr(self, name))
            return getattr(self, name)
        if not field.is_sw_writable:
            return Const(reset, width)
        self.shadows[name] = shadow
        if field.get_property("singlepulse"):
            m.d.sync += shadow.eq(hit & data & mask)
            return None
        with m.If(hit):
            m.d.sync += shadow.eq(Cat(Mux(mask[k], data[k], shadow[k]) for k in range(width)))
        return shadow

    def _port(self, field: FieldNode) -> Any:
        return getattr(getattr(self.block, field.parent.inst_name.lower()), field.inst_name.lower())

    def _responses(self, m: Module):
        axi, owed, takes = self.block.s_axil, self.owed, self.takes
        complete, reads = Signal(), Signal()
        m.d.sync += [complete.eq(self.writes), reads.eq(takes["ar"])]
        could = {name: Signal(name=f"could_{name}") for name in ("write", "read")}
        with m.If(self.writes):
            m.d.sync += could["write"].eq(self.may_write)
        with m.If(takes["ar"]):
            m.d.sync += could["read"].eq(self.may_read)
        rules = [
            owed["aw"] <= 2, owed["w"] <= 2, owed["ar"] <= 1,
            ~axi.bvalid | ((owed["aw"] != 0) & (owed["w"] != 0)),
            axi.rvalid == owed["ar"],
            # The response comes in the cycle after the request is whole.
            ~complete | axi.bvalid, ~reads | axi.rvalid,
            stays(m, axi, "b", "resp"), stays(m, axi, "r", "resp", "data"),
            axi.rready | ~axi.rvalid | ~axi.arready,
        ]  # fmt: skip
        writable = [r.address_offset // 4 for r in self._node.registers() if r.has_sw_writable]
        rules += [
            ~axi.bvalid
            | (axi.bresp == Mux(self.answered.matches(*writable) & could["write"], _OKAY, _SLVERR)),
            ~axi.rvalid
            | (axi.rresp == Mux(self.read.matches(*self.reads) & could["read"], _OKAY, _SLVERR)),
        ]
        if self.locks:
            refused = self.block.o_refused
            rules += [
                refused.writes == (self.writes & ~self.may_write),
                refused.reads == (takes["ar"] & ~self.may_read),
            ]
        events = {
            "two-writes": (owed["aw"] == 2) & (owed["w"] == 2),
            "data-first": (owed["w"] == 1) & (owed["aw"] == 0) & takes["aw"],
            "write-and-read-at-once": takes["b"] & takes["r"],
            "refused-read": takes["ar"] & ~self.may_read,
            "refused-write": self.writes & ~self.may_write & self.is_open,
            "locked": self.writes & ~self.is_open,
            "error": takes["b"] & (axi.bresp == _SLVERR) & takes["r"] & (axi.rresp == _SLVERR),
        }
        return rules, events

    def _writes(self, m: Module):
        some = [shadow for shadow in self.shadows.values() if len(shadow) >= 8]
        events = {
            "part-of-a-word": self.writes & ~self.strobe.all() & self.strobe.any(),
            "no-strobe": self.writes & ~self.strobe.any(),
            "written": some[0] == 0xA5,
            "pulse": Cat(
                shadow for name, shadow in self.shadows.items() if name.endswith("pulse")
            ).any(),
        }
        return self._held(), events

    def _reads(self, m: Module):
        axi = self.block.s_axil
        rules = [~axi.rvalid | (axi.rdata == self.expected)]
        events = {
            "counted": self.takes["r"] & (self.read == 8) & (self.expected == 255),
            "wrapped": self.wraps,
            "write-beside": self.writes & self.takes["ar"],
            "nothing-there": axi.rvalid & (axi.rresp == _SLVERR),
        }
        return rules, events

    def _helps(self) -> list[Value]:
        """Where requests are held, and that the shadows are the registers."""
        inner, axi = self.inner, self.block.s_axil
        helps = [
            inner["have_address"] == self.has["aw"], inner["have_data"] == self.has["w"],
            self.owed["aw"] <= 1 + axi.bvalid, self.owed["w"] <= 1 + axi.bvalid,
            axi.rvalid == self.owed["ar"],
            ~axi.bvalid | ((self.owed["aw"] != 0) & (self.owed["w"] != 0)),
            ~self.has["aw"] | (inner["address"] == self.address),
            ~self.has["w"] | (inner.each("data")[-1] == self.data),
            ~self.has["w"] | (inner["strobe"] == self.strobe),
        ]  # fmt: skip
        counts = [
            inner[name.replace("__", "_")] == shadow for name, shadow in self.counters.items()
        ]
        locks = [inner[name.replace("__", "_")] == lock for name, lock in self.locks.items()]
        if locks:
            helps.append(~self.has["aw"] | (inner["prot"] == self.prot))
        return [*helps, *counts, *locks, *self._held()]

    def _held(self) -> list[Value]:
        """Each field that software writes is its shadow."""
        rules = []
        for name, shadow in self.shadows.items():
            register, field, *port = name.split("__")
            member = getattr(getattr(self.block, register), field)
            rules.append((getattr(member, port[0]) if port else member) == shadow)
        return rules


def _name(field: FieldNode) -> str:
    return f"{field.parent.inst_name}__{field.inst_name}".lower()


def _is_counter(field: FieldNode) -> bool:
    return bool(field.get_property("counter"))


def register_proof(
    about: str, rule: str, events: Sequence[str], bugs: Mapping[str, Patch]
) -> Proof:
    """A proof on registers of every kind, of what ``RegisterHarness`` asserts ``about`` them."""
    return Proof(
        rule=rule,
        sizes="a description with every kind of field; also ScoRD's registers",
        harness=lambda case: RegisterHarness(small_registers(), case, about),
        depth=2,
        events=events,
        bugs=bugs,
        cycles=12,
    )


def holds_for_scord(about: str) -> bool:
    """Whether the same holds for ScoRD's registers."""
    return holds_always(RegisterHarness(compile_registers(ScordParams()), Case(), about), depth=2)
