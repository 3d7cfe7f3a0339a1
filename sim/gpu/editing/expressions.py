"""Expressions of a CUDA source that access memory, by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import tree_sitter

from racetrap.sim.gpu.editing.declarations import nodes_of, source_of
from racetrap.sim.gpu.editing.source_unit import SourceUnit
from racetrap.sim.gpu.editing.type_names import Types, type_of

#: Functions that access what their first argument points to.
_FUNCTIONS = {
    "load": re.compile(rb"__ld\w+"), "store": re.compile(rb"__st\w+"),
    "atomic": re.compile(rb"atomic\w+"),
}  # fmt: skip
#: Functions that may be macros: what they access is not in the line.
_MACRO = re.compile(rb"[A-Z][A-Z0-9_]*")
_UNEVALUATED = ("sizeof_expression", "decltype", "comment", "alignof_expression")


class AccessExpression(NamedTuple):
    """An expression that accesses memory.

    Parameters
    ----------
    node : Node
        The expression.
    kinds : frozenset of str
        What it does: ``load``, ``store``, ``atomic``.
    names : frozenset of str
        Variables and members that it goes through, those of indices left out.
    is_name : bool
        Whether it is a name alone, and no reference: an access only if the variable is in memory.
    """

    node: tree_sitter.Node
    kinds: frozenset[str]
    names: frozenset[str]
    is_name: bool


class LineAccesses:
    """What is accessed in a line, and how the function around it declares its names.

    Parameters
    ----------
    source : str
        The source.
    line : int
        The line, from 1.

    Attributes
    ----------
    text : bytes
        The line.
    accesses : list of AccessExpression
        What may access memory.
    has_macro : bool
        Whether there are uses of macros, which may access memory, too.
    body : str or None
        Text of the macro in whose arguments the line is, if that defines a function; empty if it is
        in none, nothing if the text is elsewhere.
    shared, local, arguments : frozenset of str
        Variables in shared memory, arrays of each thread, and arguments of a kernel.
    """

    def __init__(self, source: str, line: int) -> None:
        self._source, self._row = source, line - 1
        lines = source.split("\n")
        self.text = lines[self._row].encode() if 0 < line <= len(lines) else b""
        self.accesses: list[AccessExpression] = []
        self._sizes: dict[int, int] = {}
        self.has_macro = False
        self.body: str | None = ""
        function = root = source_of(source).root
        node: tree_sitter.Node | None = root
        while node is not None:
            if node.type == "function_definition":
                function = node
            inner = [child for child in node.named_children if self._is_around(child)]
            node = inner[0] if len(inner) == 1 else None
        self.shared, self.local, self._references = _declared(function)
        self.arguments = _arguments(function)
        # A macro that stands alone, and defines a function, has its statements as arguments.
        unit = SourceUnit("", source.encode(), line) if function is root else None
        if unit is None or not unit.is_macro:
            self._visit(function, "load")
            return
        self.has_macro = True
        self.body = source_of(source).index.body_of(unit.text.partition(b"(")[0].decode())
        for argument in unit.argument_trees() if self.body is not None else ():
            self._visit(argument.root_node, "load")

    def size_of(self, node: tree_sitter.Node) -> int:
        """Bytes of an expression; 0 if unknown."""
        if node.id not in self._sizes:
            source = source_of(self._source)
            around = source.function_at(self._row + 1)
            found = type_of(node, source, around and around.node, Types([source]))
            self._sizes[node.id] = found.size if found is not None else 0
        return self._sizes[node.id]

    def _is_around(self, node: tree_sitter.Node) -> bool:
        return node.start_point[0] <= self._row <= node.end_point[0]

    def _record(self, node: tree_sitter.Node, *kinds: str, is_name: bool = False) -> None:
        own = node
        while (parent := node.parent) is not None and _is_member_of(parent, node):
            node = parent
        if node.start_point[0] == self._row:
            self.accesses.append(AccessExpression(
                node, frozenset(kinds), frozenset(_names(node)),
                is_name and self._references.isdisjoint(_names(own)),
            ))  # fmt: skip

    def _visit(self, node: tree_sitter.Node, *kinds: str) -> None:
        """Record accesses in a node, which is accessed itself in some ways, or in none."""
        if not self._is_around(node) or node.type in _UNEVALUATED:
            return
        field = node.child_by_field_name
        if node.type == "assignment_expression":
            is_plain = (field("operator") or node).text == b"="
            self._visit_field(node, "left", *(("store",) if is_plain else ("load", "store")))
            self._visit_field(node, "right", "load")
        elif node.type == "update_expression":
            self._visit_field(node, "argument", "load", "store")
        elif node.type == "subscript_expression":
            self._record(node, *kinds)
            for child in node.named_children:
                self._visit(child, "load")
        elif node.type == "pointer_expression":
            if (field("operator") or node).text == b"&":
                self._visit_field(node, "argument")
            else:
                self._record(node, *kinds)
                self._visit_field(node, "argument", "load")
        elif node.type == "field_expression":
            is_pointer = _is_through_pointer(node)
            if is_pointer:
                self._record(node, *kinds)
            self._visit_field(node, "argument", *(("load",) if is_pointer else kinds))
        elif node.type == "call_expression":
            self._visit_call(node)
        elif node.type == "identifier":
            self._record(node, *kinds, is_name=True)
        else:
            passes = node.type in ("parenthesized_expression", "cast_expression")
            for child in node.named_children:
                self._visit(child, *(kinds if passes else ("load",)))

    def _visit_field(self, node: tree_sitter.Node, name: str, *kinds: str) -> None:
        if (child := node.child_by_field_name(name)) is not None:
            self._visit(child, *kinds)

    def _visit_call(self, node: tree_sitter.Node) -> None:
        function, arguments = (node.child_by_field_name(name) for name in ("function", "arguments"))
        name = (function.text if function is not None else None) or b""
        given = arguments.named_children if arguments is not None else []
        self.has_macro |= _MACRO.fullmatch(name) is not None and node.start_point[0] == self._row
        for kind, pattern in _FUNCTIONS.items():
            if given and pattern.fullmatch(name):
                first = given[0]
                is_address = first.type == "pointer_expression" and (first.text or b"")[:1] == b"&"
                self._record(first.named_children[0] if is_address else first, kind)
        if function is not None and function.type == "field_expression":
            self._visit(function, "load")
        for each in given:
            self._visit(each, "load")


def _is_through_pointer(node: tree_sitter.Node) -> bool:
    return b"->" in [child.text for child in node.children]


def _is_member_of(node: tree_sitter.Node, whole: tree_sitter.Node) -> bool:
    """Whether a node is a member of a structure."""
    is_member = node.type == "field_expression" and not _is_through_pointer(node)
    return is_member and node.child_by_field_name("argument") == whole


def _names(node: tree_sitter.Node) -> Iterator[str]:
    """Variables and members that an expression goes through, those of indices left out."""
    if node.type in ("identifier", "field_identifier"):
        yield (node.text or b"").decode(errors="replace")
    elif node.type == "subscript_expression":
        yield from _names(node.named_children[0])
    elif node.type not in ("call_expression", "type_descriptor", *_UNEVALUATED):
        for child in node.named_children:
            yield from _names(child)


def _arguments(function: tree_sitter.Node) -> frozenset[str]:
    """Names of the parameters of a kernel; none of other functions."""
    body = function.child_by_field_name("body")
    if function.type != "function_definition" or body is None:
        return frozenset()
    head = (function.text or b"")[: body.start_byte - function.start_byte]
    if b"__global__" not in head:
        return frozenset()
    return frozenset(
        (node.text or b"").decode(errors="replace") for node in nodes_of(function)
        if node.type == "identifier" and node.end_byte < body.start_byte
    )  # fmt: skip


def _declared(function: tree_sitter.Node) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Names in shared memory, arrays of each thread, and references that a function declares."""
    shared: set[str] = set()
    local: set[str] = set()
    references: set[str] = set()
    pending = [function]
    while pending:
        node = pending.pop()
        pending += node.named_children
        if node.type == "reference_declarator":
            references.update(_names(node))
        if node.type != "declaration":
            continue
        is_shared = b"__shared__" in (node.text or b"")
        for child in node.named_children:
            if child.type == "init_declarator":
                child = child.child_by_field_name("declarator") or child
            if is_shared:
                shared.update(_names(child))
            elif child.type == "array_declarator":
                local.update(_names(child.named_children[0]))
    return frozenset(shared), frozenset(local), frozenset(references)


@lru_cache(maxsize=256)
def line_accesses(text: str, line: int) -> LineAccesses:
    """What is accessed in a line of a source, from 1."""
    return LineAccesses(text, line)
