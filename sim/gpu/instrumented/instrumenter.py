"""Instrumenter of PTX: a text whose kernels log what they do.

Before each access, fence, barrier and end of a thread, the lanes that come there together write a
record.  A strong access and its record are made under one lock of the GPU.  Variables of the module
are at addresses that the caller gives, so that they are the same everywhere.

Ref: BARRACUDA (PLDI'17) Section 4.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.arithmetic.scalars import SCALARS
from racetrap.sim.gpu.instrumented import statements
from racetrap.sim.gpu.instrumented.instruction_text import (
    Edit,
    InstructionText,
    place_of,
    symbols,
    with_edits,
)
from racetrap.sim.gpu.instrumented.sites import LogSite, SiteKind, site_of
from racetrap.sim.gpu.instrumented.statements import Word
from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.module import Function, Instruction, Module, Symbol
from racetrap.sim.gpu.ptx.nodes import BodyNode, FunctionNode, HeaderNode, InstructionNode
from racetrap.sim.gpu.ptx.syntax import parse_syntax

#: Version of PTX from which on there is ``activemask``.
_LEAST_VERSION = (6, 2)
_FUNCTIONS = Path(__file__).with_name("log_functions.ptx")
_LOG = ".visible .global .align 8 .b64 racetrap_log[4];"
#: Where a block is in its grid: all 0 in the first one.
_IN_GRID = ("%ctaid.x", "%ctaid.y", "%ctaid.z")
_BRACES = re.compile(r"[{}]|//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"", re.DOTALL)
_WHERE = {"generic": statements.GENERIC, "shared": statements.SHARED}


class InstrumentedText(NamedTuple):
    """PTX that logs.

    Parameters
    ----------
    text : str
        The whole text.
    sites : tuple of LogSite
        What the records say, by the number in them.
    refused : dict of str to PtxError
        Functions that do what cannot be logged, with the error that says so.
    """

    text: str
    sites: tuple[LogSite, ...]
    refused: dict[str, PtxError]


def instrument(
    module: Module, places: Mapping[str, int], first_site: int = 0, is_first: bool = True
) -> InstrumentedText:
    """Instrument the text of a module.

    Parameters
    ----------
    module : Module
        The module.
    places : mapping of str to int
        Addresses of variables in global memory.
    first_site : int
        Number of its first site, if it is to be linked with others.
    is_first : bool
        Whether it is the first of those that are linked.

    Raises
    ------
    PtxError
        If it is of a version without ``activemask``.
    """
    if tuple(map(int, module.version.split("."))) < _LEAST_VERSION:
        raise PtxError(
            module.name, 1,
            f"Version of PTX that is to log must be 6.2 or later, not {module.version}",
        )  # fmt: skip
    return _Instrumenter(module, places, first_site).run(is_first)


class _Instrumenter:
    """Edits of one text."""

    def __init__(self, module: Module, places: Mapping[str, int], first_site: int):
        self._text, self._module, self._places = module.text, module, places
        self._first_site = first_site
        self._sites: list[LogSite] = []
        self._edits: list[Edit] = []
        self._refused: dict[str, PtxError] = {}

    def run(self, is_first: bool) -> InstrumentedText:
        items = parse_syntax(self._text, self._module.name)
        (header,) = (
            item.value for item in items
            if isinstance(item, HeaderNode) and item.directive == "address_size"
        )  # fmt: skip
        log = _LOG if is_first else _LOG.replace("visible", "extern")
        behind = place_of(header) + len(header)
        self._insert(behind, f"\n{log}\n{_FUNCTIONS.read_text('utf-8')}")
        for node in items:
            if isinstance(node, FunctionNode) and node.body is not None:
                self._function(node, node.body)
        text = with_edits(self._text, self._edits)
        return InstrumentedText(text, tuple(self._sites), self._refused)

    def _insert(self, place: int, text: str) -> None:
        self._edits.append(Edit(place, place, text))

    def _site(self, site: LogSite) -> int:
        self._sites.append(site)
        return self._first_site + len(self._sites) - 1

    def _function(self, node: FunctionNode, body: BodyNode) -> None:
        function = self._module.functions[str(node.name)]
        begin = self._text.index("{", place_of(node.name)) + 1
        self._insert(begin, statements.REGISTERS)
        texts = [
            InstructionText(self._text, each, instruction, self._places)
            for each, instruction in zip(_instructions(body), function.instructions, strict=True)
        ]
        if texts and function.is_kernel:
            lines = [line for name in self._shared(function) for line in self._address_of(name)]
            self._insert(texts[0].start, "\n".join([*lines, ""]))
        for text, instruction in zip(texts, function.instructions, strict=True):
            self._statement(text, instruction, self._site_of(instruction, function))
        if function.is_kernel and not _ends(function):
            end = self._site(LogSite(SiteKind.EXIT)) | statements.BRIEF
            lines = statements.logged(end, (), ["ret;"])
            self._insert(_closing_brace(self._text, begin), "\n".join(["", *lines, ""]))

    def _site_of(self, instruction: Instruction, function: Function) -> LogSite | None:
        try:
            return site_of(instruction, function)
        except UnknownInstruction as error:
            refusal = PtxError(self._module.name, instruction.line, str(error))
            self._refused.setdefault(function.name, refusal)
            return None

    # Variables in shared memory

    def _shared(self, function: Function) -> Iterator[str]:
        """Shared variables that a kernel names: its own, and those of the module."""
        own = (each.name for each in function.variables if each.space == "shared")
        used = {name for each in function.instructions for name in symbols(each.operands)}
        of_module = (
            name for name, variable in self._module.variables.items()
            if variable.space == "shared" and name in used
        )  # fmt: skip
        yield from own
        yield from of_module

    def _address_of(self, name: str) -> list[str]:
        """Code by which the warps of the first block log where a shared variable is."""
        site = self._site(LogSite(SiteKind.SHARED_VARIABLE, variable=name))
        skip, written = f"$racetrap_{site}", name.partition("#")[0]
        lines = ["mov.u32 %racetrap_r, 0;"]
        for each in _IN_GRID:
            lines += [
                f"mov.u32 %racetrap_h, {each};", "or.b32 %racetrap_r, %racetrap_r, %racetrap_h;",
            ]  # fmt: skip
        values = [
            *statements.address(Word(Symbol(name), written), 0),
            *statements.values([], SCALARS["b64"]),
        ]
        return [
            *lines, "setp.ne.u32 %racetrap_p, %racetrap_r, 0;", f"@%racetrap_p bra {skip};",
            *statements.logged(site | statements.BRIEF, values, [f"{skip}:"]),
        ]  # fmt: skip

    # Statements

    def _statement(
        self, text: InstructionText, instruction: Instruction, site: LogSite | None
    ) -> None:
        before, statement = text.with_places()
        lines = [statement]
        if site is not None:
            number = self._site(site)
            skip = f"$racetrap_{number}"
            guard = text.skip(skip)
            # Lanes that the guard leaves out wait, so that none has lost the others behind it.
            label = [f"{skip}:", "bar.warp.sync %racetrap_g;"] if guard else []
            lines = [*guard, *_logged(text, site, number, statement, label)]
        self._edits.append(Edit(text.start, text.end, "\n".join([*before, *lines])))


def _logged(
    text: InstructionText, site: LogSite, number: int, statement: str, label: list[str]
) -> list[str]:
    """Code of an instruction that logs; what its guard leaves out goes to the label in it."""
    if site.mode is None:
        number |= statements.BRIEF * site.is_brief
        return statements.logged(number, text.numbers(site), [*label, statement])
    number |= _WHERE.get(site.mode.space, 0)
    values = text.values(site)
    if not site.mode.strong:
        return statements.logged(number, values, [*label, statement])
    after, flag = list[str](), "0"
    if site.mode.operation == "cas":
        after, flag = statements.success(text.words()[0], site.mode.type), "%racetrap_f"
    return [*statements.locked(number, values, [statement, *after], flag), *label]


def _instructions(body: BodyNode) -> Iterator[InstructionNode]:
    for statement in body.statements:
        if isinstance(statement, BodyNode):
            yield from _instructions(statement)
        elif isinstance(statement, InstructionNode):
            yield statement


def _closing_brace(text: str, begin: int) -> int:
    """Place of the brace that closes the one before a place."""
    depth = 1
    for match in _BRACES.finditer(text, begin):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if not depth:
            return match.start()
    raise AssertionError("The parser has read the text")


def _ends(function: Function) -> bool:
    """Whether a function's last instruction leaves it, or goes elsewhere."""
    if not function.instructions:
        return False
    last = function.instructions[-1]
    return last.guard is None and last.opcode in ("ret", "exit", "bra", "trap")
