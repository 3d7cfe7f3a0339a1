"""SystemVerilog package of a configuration: types of ports and packed words, and parameters.

Ref: IEEE 1800-2017, sections 6.18 (type definitions), 7.2.1 (packed structures), 26 (packages).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from enum import Enum, IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from amaranth.hdl import Shape, ShapeLike
from amaranth.lib import data

from racetrap.generators.description import describe_registers
from racetrap.generators.distinct_modules import expect_no_elaboration, ports_of
from racetrap.generators.presets import module_name, package_name
from racetrap.generators.system import Params, code_words
from racetrap.generators.systems import system_of
from racetrap.rtl.common.layout import struct_layout

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component

#: Ref: IEEE 1800-2017, table B.1.
_KEYWORDS = """
accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before
begin bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class
clocking cmos config const constraint context continue cover covergroup coverpoint cross deassign
default defparam design disable dist do edge else end endcase endchecker endclass endclocking
endconfig endfunction endgenerate endgroup endinterface endmodule endpackage endprimitive
endprogram endproperty endsequence endspecify endtable endtask enum event eventually expect export
extends extern final first_match for force foreach forever fork forkjoin function generate genvar
global highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir include
initial inout input inside instance int integer interconnect interface intersect join join_any
join_none large let liblist library local localparam logic longint macromodule matches medium
modport module nand negedge nettype new nexttime nmos nor noshowcancelled not notif0 notif1 null or
output package packed parameter pmos posedge primitive priority program property protected pull0
pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase randsequence
rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0
rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal
showcancelled signed small soft solve specify specparam static string strong strong0 strong1 struct
super supply0 supply1 sync_accept_on sync_reject_on table tagged task this throughout time
timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type typedef union
unique unique0 unsigned until until_with untyped use uwire var vectored virtual void wait wait_order
wand weak weak0 weak1 while wildcard wire with within wor xnor xor
"""


def systemverilog_package(name: str, params: Params, tops: Mapping[str, Component]) -> str:
    """Text of the package of a configuration.

    It has each parameter of the detector, the offset of each register, an enumeration (``KIND_e``)
    for each kind of code, and a packed structure (``WORD_t``) for each packed word.  A port is
    called as in the Verilog without the numbers of elements: it has a type ``PORT_t`` if it has
    several bits, and a number of elements ``PORT_COUNT`` if it has elements.  Where tops disagree
    on a port, the names of a part's begin with the part's and ``__``.

    Parameters
    ----------
    name : str
        Name of the files.
    params : Params
        Parameters.
    tops : mapping of str to Component
        The whole system under the empty name, and its parts by name.
    """
    package = package_name(name)
    types = _Types(params)
    ports = [line for part, top in tops.items() for line in types.of_ports(part, top)]
    lines = [
        f"// Types and parameters of the race detector {system_of(params).name}, module "
        f"{module_name(name)}.",
        f"package {package};",
        "  // verilator lint_off UNUSEDPARAM",  # a design needs some of them
        *_parameters(params),
        *types.definitions,
        *ports,
        "  // verilator lint_on UNUSEDPARAM",
        f"endpackage : {package}",
    ]
    return "".join(f"{line}\n" for line in lines)


def member_name(field: str) -> str:
    """Member of a packed structure for a field: a keyword gets an underscore at its end."""
    return f"{field}_" if field in _KEYWORDS.split() else field


def enumerators(code: type[IntEnum]) -> dict[str, int]:
    """Values of an enumeration by their names in the package."""
    return {f"{code_words(code)}_{each.name}".upper(): each.value for each in code}


def _parameters(params: Params) -> Iterator[str]:
    """Parameters of the detector, and offsets of its registers."""
    for name, value in asdict(params).items():
        yield f"  localparam {_constant(name.upper(), value)};"
    for name, register in describe_registers(params).items():
        yield f"  localparam logic [11:0] {name}_OFFSET = 12'h{register['offset']:03x};"


def _constant(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"bit {name} = {value:d}"
    if isinstance(value, int):
        return f"longint unsigned {name} = 64'd{value}" if value >> 31 else f"int {name} = {value}"
    return f'{name} = "{value.value if isinstance(value, Enum) else value}"'


def _vector(width: int) -> str:
    return f"logic [{width - 1}:0]" if width > 1 else "logic"


class _Count(NamedTuple):
    """Elements of a port."""

    elements: int


class _Types:
    """Types of a configuration, made from the shapes that the hardware has.

    Parameters
    ----------
    params : Params
        Parameters.
    """

    def __init__(self, params: Params):
        self._params = params
        #: Lines of enumerations and structures, each behind those that it needs.
        self.definitions: list[str] = []
        self._defined: set[str | type[IntEnum]] = set()
        #: Ports that have their lines.
        self._ports: dict[str, _Count | ShapeLike] = {}
        for name in system_of(params).layouts:
            self._type(self._structures[name], name)

    @cached_property
    def _structures(self) -> dict[str, data.StructLayout]:
        """Layouts of the parameters by name; those of packed words come first."""
        kind = type(self._params)
        others = (
            name.removesuffix("_layout")
            for name in dir(kind)
            if name.endswith("_layout")
            and isinstance(getattr(kind, name), (property, cached_property))
        )
        return {
            name: struct_layout(getattr(self._params, f"{name}_layout"))
            for name in (*system_of(self._params).layouts, *others)
        }

    def _name(self, layout: data.StructLayout, otherwise: str) -> str:
        """Name of a structure: the parameters' own, if they have one."""
        return next(
            (name for name, known in self._structures.items() if known == layout), otherwise
        )

    @cached_property
    def _codes(self) -> dict[tuple[str, str], type[IntEnum]]:
        """Enumeration of each member that is a code, by structure and member."""
        codes = {}
        for place, code in system_of(self._params).codes.items():
            structure, _, path = place.partition(".")
            layout = self._structures[structure]
            while path not in layout.members:
                member = next(name for name in layout.members if path.startswith(f"{name}_"))
                path = path.removeprefix(f"{member}_")
                layout = layout.members[member]
                structure = self._name(layout, f"{structure}_{member}")
            codes[structure, path] = code
        return codes

    def _type(self, shape: ShapeLike, name: str) -> str:
        """Type of a shape, which is defined under a name if it is a structure without one."""
        if isinstance(shape, data.ArrayLayout):
            return f"{self._type(shape.elem_shape, f'{name}_element')} [{shape.length - 1}:0]"
        if not isinstance(shape, data.StructLayout):
            return _vector(Shape.cast(shape).width)
        name = self._name(shape, name)
        if name not in self._defined:
            self._defined.add(name)
            members = [
                f"    {self._member_type(name, member, inner)} {member_name(member)};"
                for member, inner in shape.members.items()
                if Shape.cast(inner).width
            ]
            self.definitions += ["  typedef struct packed {", *members[::-1], f"  }} {name}_t;"]
        return f"{name}_t"

    def _member_type(self, structure: str, member: str, shape: ShapeLike) -> str:
        code = self._codes.get((structure, member))
        if code is None:
            return self._type(shape, f"{structure}_{member}")
        if code not in self._defined:
            self._defined.add(code)
            width = Shape.cast(shape).width
            values = [f"    {name} = {width}'d{value}" for name, value in enumerators(code).items()]
            self.definitions += [
                f"  typedef enum {_vector(width)} {{",
                *",\n".join(values).split("\n"),
                f"  }} {code_words(code)}_e;",
            ]
        return f"{code_words(code)}_e"

    def of_ports(self, part: str, top: Component) -> Iterator[str]:
        """Lines for the ports of a top that are not those of a top before it."""
        for name, shape in _ports(top).items():
            if self._ports.get(name) == shape:
                continue
            if name in self._ports:
                name = f"{part.replace('-', '_')}__{name}"
            self._ports[name] = shape
            if isinstance(shape, _Count):
                yield f"  localparam int {name.upper()} = {shape.elements};"
            elif (kind := self._type(shape, name)) not in ("logic", f"{name}_t"):
                yield f"  typedef {kind} {name}_t;"


def _ports(top: Component) -> dict[str, _Count | ShapeLike]:
    """Shape of each port by its name without numbers; with numbers, also the count of elements."""
    expect_no_elaboration(top)
    present = ports_of(top)
    found: dict[str, _Count | ShapeLike] = {}
    for path, member, _ in top.signature.flatten(top):
        if "__".join(map(str, path)) not in present:
            continue
        for place, number in enumerate(path):
            if isinstance(number, int):
                found["__".join(path[:place]) + "_count"] = _Count(number + 1)
        plain = not isinstance(member.shape, data.Layout)
        shape = Shape.cast(member.shape).width if plain else member.shape
        found["__".join(each for each in path if isinstance(each, str))] = shape
    return found
