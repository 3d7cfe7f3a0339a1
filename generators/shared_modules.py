"""Modules of a design that are the same, written once, under names that a person would give them.

Amaranth writes a module for each instance, and what an instance's inputs are constantly connected
to into the module.  Here constants that differ between instances become inputs again, and modules
that then differ in nothing but their names become one: fifteen trackers are fifteen instances of
one module.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count

__all__ = ["share_modules"]

_MODULE = re.compile(
    r"(?P<attributes>(?:^attribute .*\n)*)^module (?P<name>\\\S+)\n(?P<body>(?s:.*?)^end\n)",
    re.MULTILINE,
)
_CELL = re.compile(r"^  cell (\\\S+)( .*\n(?:    .*\n)*?)  end\n", re.MULTILINE)
_CONNECTION = re.compile(r"^(    connect )(\S+)", re.MULTILINE)
#: Port that Amaranth makes for a value from outside, with a number that counts over the design.
_NUMBERED_PORT = re.compile(r"\\port\$\d+\$\d+(?=\s)")
_CONSTANT = re.compile(r"\d+'[01]+")
#: What a constant is connected to: a signal of the module, or an input of a module within.
_CONNECTED = re.compile(r"^(?:    )?connect (\\\S+) $")
#: Where a constant may be a signal as well.
_USED = re.compile(r"^ *(?:assign|connect|switch) ")
_WIRE = re.compile(r"^  wire width \d+ (\\\S+)$", re.MULTILINE)
_PORT = re.compile(r"^  wire width \d+ (?:input|output|inout) (\d+) ", re.MULTILINE)
#: At the end of an instance's name; the name of the top, which is before the first dot, is kept.
_INSTANCE_NUMBER = re.compile(r"(\..*?)_\d+(?=\.|$)")


@dataclass
class _Module:
    """A module while it is being shared.

    Parameters
    ----------
    attributes, name, body : str
        As Amaranth writes them.
    ports : dict of str to str
        New names of its numbered ports.
    constants : dict of str to str
        Constant that each input has which only the sharing has made.
    within : set of str
        Such inputs of the modules within.
    """

    attributes: str
    name: str
    body: str
    ports: dict[str, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    within: set[str] = field(default_factory=set)

    @property
    def depth(self) -> int:
        """Modules around it."""
        return self.name.count(".")


def share_modules(rtlil: str) -> str:
    """A design with one module in the place of all that are the same.

    A module is named after the top and the shortest path to one of its instances, joined by
    ``_``; the numbers of instances are left out where no other module has the name then.

    Parameters
    ----------
    rtlil : str
        Design in RTLIL, as Amaranth writes it.
    """
    modules = {
        match["name"]: _Module(match["attributes"], match["name"], match["body"])
        for match in _MODULE.finditer(rtlil)
    }
    by_depth: dict[int, list[_Module]] = defaultdict(list)
    for module in modules.values():
        by_depth[module.depth].append(module)
    shared: dict[str, _Module] = {}  # the module that stands for all with a body
    for depth in sorted(by_depth, reverse=True):
        for module in by_depth[depth]:
            _settle_cells(module, modules, shared)
        _make_inputs(by_depth[depth])
        # The shortest path gives the name, so that this level's module stands for lower ones'.
        shared |= {module.body: module for module in reversed(by_depth[depth])}
    kept = [module for module in modules.values() if shared[module.body] is module]
    names = dict(zip((module.name for module in kept), _names(kept), strict=True))

    def named(cell: re.Match[str]) -> str:
        child = modules.get(cell[1])
        name = names[shared[child.body].name] if child else cell[1]
        return f"  cell {name}{cell[2]}  end\n"

    return "".join(
        f"{module.attributes}module {names[module.name]}\n{_CELL.sub(named, module.body)}"
        for module in kept
    )


def _settle_cells(module: _Module, modules: dict[str, _Module], shared: dict[str, _Module]) -> None:
    """Name the modules within by those that stand for them, and number private ports anew."""

    def settle(cell: re.Match[str]) -> str:
        child = modules.get(cell[1])
        if child is None:  # of Yosys' library
            return cell[0]
        ports = child.ports
        rest = _CONNECTION.sub(lambda port: port[1] + ports.get(port[2], port[2]), cell[2])
        rest += "".join(f"    connect {port} {it}\n" for port, it in child.constants.items())
        module.within |= set(child.constants)
        return f"  cell {shared[child.body].name}{rest}  end\n"

    body = _CELL.sub(settle, module.body)
    found = dict.fromkeys(_NUMBERED_PORT.findall(body))
    module.ports = {port: f"\\port${number}" for number, port in enumerate(found)}
    module.body = _NUMBERED_PORT.sub(lambda port: module.ports[port[0]], body)


def _make_inputs(level: Sequence[_Module]) -> None:
    """Make inputs of the constants in which otherwise equal modules differ."""
    groups: dict[str, list[_Module]] = defaultdict(list)
    for module in level:
        groups[_CONSTANT.sub(lambda match: match[0].partition("'")[0], module.body)].append(module)
    for group in groups.values():
        if len({module.body for module in group}) > 1:
            _make_inputs_of(group)


def _make_inputs_of(group: Sequence[_Module]) -> None:
    """Do so for a group, unless a constant differs that is no part of what an input gets."""
    body = group[0].body
    places = list(_CONSTANT.finditer(body))
    values = list(zip(*(_CONSTANT.findall(module.body) for module in group), strict=True))
    heads = [body[body.rfind("\n", 0, place.start()) + 1 : place.start()] for place in places]
    differ = [number for number, of_all in enumerate(values) if len(set(of_all)) > 1]
    own = set(_WIRE.findall(body))
    inputs: dict[str, Sequence[str]] = {}
    for number in differ:
        match = _CONNECTED.match(heads[number])
        if match and match[1] in (own if match[0][0] == "c" else group[0].within - own):
            inputs[_free_name(match[1], values[number], inputs)] = values[number]
    pieces, end = [], 0
    for number in differ:
        part = _signal(values[number], inputs) if _USED.match(heads[number]) else None
        if part is None:
            return
        pieces += [body[end : places[number].start()], part]
        end = places[number].end()
    body = "".join([*pieces, body[end:]])
    ports = len(_PORT.findall(body))
    for port, (name, of_all) in enumerate(inputs.items(), ports):
        width = of_all[0].partition("'")[0]
        body = body.replace(f"  wire width {width} {name}\n", "")
        body = body.replace(f"\nconnect {name} {name} [{int(width) - 1}:0]\n", "\n")
        body = f"  wire width {width} input {port} {name}\n\n{body}"
    for number, module in enumerate(group):
        module.body = body
        module.constants = {name: of_all[number] for name, of_all in inputs.items()}


def _free_name(name: str, values: Sequence[str], inputs: Mapping[str, Sequence[str]]) -> str:
    """Name of an input with these values: several modules within may have one of that name."""
    names = chain([name], (f"{name}_{number}" for number in count(1)))
    return next(each for each in names if inputs.get(each, values) == values)


def _signal(constants: Sequence[str], inputs: Mapping[str, Sequence[str]]) -> str | None:
    """What has the constant's value in every module: part of an input, maybe extended."""
    bits = [constant.partition("'")[2] for constant in constants]
    differs = next(at for at, of_all in enumerate(zip(*bits, strict=True)) if len(set(of_all)) > 1)
    for extension in range(differs + 1):
        part = _part([text[extension:] for text in bits], inputs)
        if part is not None:
            return f"{{ {extension}'{bits[0][:extension]} {part} }}" if extension else part
    return None


def _part(bits: Sequence[str], inputs: Mapping[str, Sequence[str]]) -> str | None:
    """Part of an input that has these bits in every module."""
    size = len(bits[0])
    for name, values in inputs.items():
        texts = [value.partition("'")[2] for value in values]
        for low in range(len(texts[0]) - size + 1):
            high = len(texts[0]) - low
            if [text[high - size : high] for text in texts] == bits:
                return f"{name} [{low + size - 1}:{low}]"
    return None


def _names(modules: Iterable[_Module]) -> list[str]:
    """Name of each module from its path: without numbers if that is no other's name."""
    paths = [module.name for module in modules]
    short = [_INSTANCE_NUMBER.sub(r"\1", path).replace(".", "_") for path in paths]
    whole = [path.replace(".", "_") for path in paths]
    names = [
        less if short.count(less) == 1 and less not in whole else more
        for less, more in zip(short, whole, strict=True)
    ]
    if len(set(names)) < len(names):
        return [path.replace(".", "__") for path in paths]
    return names
