"""Verilog of a component."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

import amaranth
from amaranth.back import rtlil
from amaranth.back.verilog import _convert_rtlil_text  # no public function takes RTLIL
from amaranth.lib import wiring

from racetrap.generators.distinct_modules import distinct_modules
from racetrap.generators.garbage_collection import garbage_collection_paused
from racetrap.generators.operand_widths import with_whole_operands
from racetrap.golden_model.checks import unknown_name
from racetrap.rtl.common.ram import MACRO, MACRO_VERILOG

#: What Verilog can be asked for: registers that ``rst`` resets at once, not at the clock's edge;
#: and the line of the source that each signal, register and operation comes from.
ASYNCHRONOUS_RESET = "asynchronous-reset"
SOURCE_LOCATORS = "source-locators"
FORMS = (ASYNCHRONOUS_RESET, SOURCE_LOCATORS)

_MODULE = re.compile(r"^module .*?^end$", re.MULTILINE | re.DOTALL)
#: A field without bits, which Verilog cannot declare, or what is connected to it; further in are
#: the ports of cells.
_EMPTY = re.compile(r"^ {,2}(?:wire width 0 (\S+)|connect (\S+) \{  \})\n", re.MULTILINE)
#: A cell whose result has no bits.
_EMPTY_CELL = re.compile(
    r"^  cell .*\n(?:    parameter .*\n)*?    parameter \\(?:Y_)?WIDTH 0\n(?:    .*\n)*  end\n",
    re.MULTILINE,
)
#: What Yosys makes of constant bits of a word of which other bits are assigned in a process.
_CONSTANT_PART = re.compile(r"^  always @\*\n    (.* = \d+'[bh][0-9a-fxz]+;)$", re.MULTILINE)
#: The register that such processes read, so that they run once.
_TRIGGER = re.compile(r"^  reg (\\\$auto\$verilog_backend\S* ) = 0;$", re.MULTILINE)
_VERILOG_MODULE = re.compile(r"^module .*?^endmodule$", re.MULTILINE | re.DOTALL)
#: Name of a module where it begins, and where it is a cell.
_MODULE_NAME = re.compile(r"^(module |  cell )\\(\S+)", re.MULTILINE)
#: At the end of an instance's name; the name of the top, which is before the first dot, is kept.
_INSTANCE_NUMBER = re.compile(r"(\..*?)_\d+(?=\.|$)")
#: An attribute that says where something comes from, with the place in a source if it is one.
_ORIGIN = re.compile(
    r'^ *attribute \\(?:src "(.*?)(:\d+)"|(?:generator|top|amaranth\S*) .*)\n', re.MULTILINE
)
#: Folders to which places in sources are relative; nothing else says where the RTL comes from.
_PACKAGES = tuple(
    str(folder) for folder in (Path(__file__).parents[1], Path(amaranth.__file__).parent)
)


def to_verilog(
    component: wiring.Component, name: str, *, forms: Collection[str] = (), macro_words: int = 0
) -> str:
    """Verilog of a component as module ``name``; the same text for the same component.

    Components that are equal are one module.  A module is named after the top and the shortest
    path to one of its instances, joined by ``_``; the numbers of instances are left out where no
    other module has the name then.

    Parameters
    ----------
    component : wiring.Component
        Top of the design.
    name : str
        Name of its module.
    forms : collection of str
        Which of ``FORMS`` it has.
    macro_words : int
        Words from which its arrays are SRAM macros, whose model is added, and smaller ones
        flip-flops, as of ``Ram``; 0: they are arrays of Verilog in the modules that have them.

    Raises
    ------
    ValueError
        If there is no such form, or the component has an array that is none of ``Ram``.
    """
    for form in forms:
        if form not in FORMS:
            raise ValueError(unknown_name("form of Verilog", form, FORMS))
    located = SOURCE_LOCATORS in forms
    with garbage_collection_paused():
        modules = distinct_modules(
            component, name, asynchronous_reset=ASYNCHRONOUS_RESET in forms,
            macro_words=macro_words or None,
        )  # fmt: skip
        texts = (rtlil.convert_fragment(each, emit_src=located)[0] for each in modules.values())
        text = _MODULE.sub(
            lambda module: with_whole_operands(_without_empty_fields(module[0])), "".join(texts)
        )
        if located:
            text = _ORIGIN.sub(_located, text)
        verilog = _convert_rtlil_text(_with_names(text), strip_internal_attrs=not located)
        verilog = _VERILOG_MODULE.sub(lambda module: _with_triggers(module[0]), verilog)
        return verilog + MACRO_VERILOG * (f"  {MACRO} #(" in verilog)


def module_names(component: wiring.Component, name: str) -> list[str]:
    """Names of the modules that ``to_verilog`` writes, the top's first."""
    with garbage_collection_paused():
        modules = distinct_modules(component, name)
    return _names([".".join(design.hierarchy) for design in modules.values()])


def _located(attribute: re.Match[str]) -> str:
    """An attribute with a place in a package, relative to the folder of that; else nothing."""
    for package in _PACKAGES:
        if attribute[1] and attribute[1].startswith(f"{package}/"):
            path = Path(attribute[1]).relative_to(Path(package).parent)
            return f'  attribute \\src "{path.as_posix()}{attribute[2]}"\n'
    return ""


def _without_empty_fields(module: str) -> str:
    """RTLIL of a module without fields that have no bits, as far as nothing else names them."""
    module = _EMPTY_CELL.sub("", module)
    elsewhere = Counter(re.findall(r"\S+", module))
    elsewhere.subtract(field[1] or field[2] for field in _EMPTY.finditer(module))
    return _EMPTY.sub(lambda field: field[0] * bool(elsewhere[field[1] or field[2]]), module)


def _with_triggers(module: str) -> str:
    """Verilog of a module in which constant parts of words are assigned.

    ``always @*`` waits for a change of what it reads: one that reads nothing never runs.
    """
    trigger = _TRIGGER.search(module)
    if trigger is None:
        return module
    return _CONSTANT_PART.sub(
        lambda part: f"  always @* begin\n    if ({trigger[1]}) begin end\n    {part[1]}\n  end",
        module,
    )


def _with_names(text: str) -> str:
    """RTLIL with names of modules that have no dots."""
    paths = [match[2] for match in _MODULE_NAME.finditer(text) if match[1] == "module "]
    names = dict(zip(paths, _names(paths), strict=True))
    return _MODULE_NAME.sub(lambda match: rf"{match[1]}\{names.get(match[2], match[2])}", text)


def _names(paths: Sequence[str]) -> list[str]:
    """Name of each module from its path: without numbers if that is no other's name."""
    short = [_INSTANCE_NUMBER.sub(r"\1", path).replace(".", "_") for path in paths]
    whole = [path.replace(".", "_") for path in paths]
    names = [
        less if short.count(less) == 1 and less not in whole else more
        for less, more in zip(short, whole, strict=True)
    ]
    if len(set(names)) < len(names):
        return [path.replace(".", "__") for path in paths]
    return names
