"""Fields of packed ports as separate signals, for viewing waves.

A port with a packed payload gets an instance ``<layout>_<number>`` beside the device, with a signal
for each field.  Codes have an enumeration type, so that viewers of FST files show names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from racetrap.generators.system import System, code_words


@dataclass(frozen=True)
class WaveView:
    """A stream and the layout of its payload.

    Parameters
    ----------
    layout : str
        Name of the layout.
    name : str
        Name of the instance.
    stream : str
        Prefix of the names of its ports, such as ``trace__0__``.
    width : int
        Bits of the payload.
    fields : mapping of str to (int, int)
        Offset and width by the field's name, nested ones with underscores.
    codes : mapping of str to type of IntEnum
        Enumerations of the fields that are codes.
    """

    layout: str
    name: str
    stream: str
    width: int
    fields: Mapping[str, tuple[int, int]]
    codes: Mapping[str, type[IntEnum]]


def views_of(description: Mapping[str, Any], system: System) -> list[WaveView]:
    """Views of all packed streams of a generated system, inputs before steps.

    Parameters
    ----------
    description : mapping
        The generator's description.
    system : System
        The detector.
    """
    views = []
    for layout, start in {**system.inputs, **system.traces}.items():
        packed = description["layouts"][layout]
        fields = {
            name.replace(".", "_"): (place["offset"], place["width"])
            for name, place in packed["fields"].items()
            if place["width"]
        }
        codes = {name: code for name in fields if (code := system.codes.get(f"{layout}.{name}"))}
        for port in description["ports"]:
            if found := re.fullmatch(rf"({start}__(\d+__)?)payload", port):
                number = (found[2] or "").strip("_")
                name = f"{layout}_{number}" if number else layout
                views.append(WaveView(layout, name, found[1], packed["width"], fields, codes))
    return views


def views_verilog(views: Iterable[WaveView]) -> tuple[str, list[str]]:
    """SystemVerilog of the views: their packages and modules, and the lines of their instances."""
    views = list(views)
    modules = {view.layout: view for view in views}
    packages = {
        _package(code, view.fields[name][1]): _enumeration(code, view.fields[name][1])
        for view in modules.values()
        for name, code in view.codes.items()
    }
    lines = [*packages.values(), *map(_module, modules.values())]
    instances = [
        f"  view_{view.layout} {view.name} (.valid({view.stream}valid), "
        f".payload({view.stream}payload));"
        for view in views
    ]
    return "".join(f"{text}\n" for text in lines), instances


def _package(code: type[IntEnum], width: int) -> str:
    return f"{code_words(code)}_{width}"


def _enumeration(code: type[IntEnum], width: int) -> str:
    values = ", ".join(f"{each.name} = {width}'d{each.value}" for each in code)
    return "\n".join([
        f"package {_package(code, width)};",
        f"  typedef enum logic [{width - 1}:0] {{{values}}} code;",
        "endpackage",
    ])  # fmt: skip


def _module(view: WaveView) -> str:
    return "\n".join([
        f"module view_{view.layout} (input valid, input [{view.width - 1}:0] payload);",
        *_signals(view),
        "endmodule",
    ])  # fmt: skip


def _signals(view: WaveView) -> Iterator[str]:
    for name, (offset, width) in view.fields.items():
        signal = f"\\{name} "  # escaped, since it may be a keyword
        bits = f"payload[{offset + width - 1}:{offset}]"
        if code := view.codes.get(name):
            kind = f"{_package(code, width)}::code"
            yield f"  {kind} {signal};"
            yield f"  assign {signal} = {kind}'({bits});"
        else:
            vector = f"[{width - 1}:0] " if width > 1 else ""
            yield f"  wire {vector}{signal} = {bits};"
