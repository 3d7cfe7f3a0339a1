"""Expressions of a CUDA source that access memory, by line.

PTX has the column of the first statement of a line alone; which expression makes an access is found
by what it does, and to which variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import tree_sitter

from racetrap.sim.gpu.editing.source_unit import parse

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
    column : int
        Its first column, from 1.
    kinds : frozenset of str
        What it does: ``load``, ``store``, ``atomic``.
    names : frozenset of str
        Variables and members that it goes through, those of indices left out.
    is_name : bool
        Whether it is a name alone, and no reference: an access only if the variable is in memory.
    """

    column: int
    kinds: frozenset[str]
    names: frozenset[str]
    is_name: bool


def access_column(text: str, line: int, kind: str, name: str, space: str) -> int:
    """Column, from 1, of the one expression in a line that makes an access; 0 if it is not known.

    Parameters
    ----------
    text : str
        The source.
    line : int
        The line, from 1.
    kind : str
        What the access does: ``load``, ``store`` or ``atomic``.
    name : str
        The variable or allocation, if that is known.
    space : str
        Its memory, ``global`` or ``shared``.
    """
    found = _Line(text, line)
    able = [each for each in found.accesses if kind in each.kinds]
    named = [each for each in able if name and name in each.names]
    # A pointer is in a register: what it points to is accessed.
    named = [each for each in named if not each.is_name] or named
    if not named and not found.has_macro:
        # A pointer may have another name than what it points to.
        named = [
            each for each in able
            if not each.is_name and not each.names & found.local
            and bool(each.names & found.shared) == (space == "shared")
        ]  # fmt: skip
    columns = {each.column for each in named}
    return columns.pop() if len(columns) == 1 else 0


@lru_cache(maxsize=64)
def _tree(text: str) -> tree_sitter.Tree:
    return parse(text.encode())


class _Line:
    """What is accessed in a line, and how the function around it declares its names."""

    def __init__(self, text: str, line: int) -> None:
        self._row = line - 1
        lines = text.split("\n")
        self._bytes = lines[self._row].encode() if 0 < line <= len(lines) else b""
        self.accesses: list[AccessExpression] = []
        self.has_macro = False
        function = root = _tree(text).root_node
        node: tree_sitter.Node | None = root
        while node is not None:
            if node.type == "function_definition":
                function = node
            inner = [child for child in node.named_children if self._is_around(child)]
            node = inner[0] if len(inner) == 1 else None
        self.shared, self.local, self._references = _declared(function)
        self._visit(function, "load")

    def _is_around(self, node: tree_sitter.Node) -> bool:
        return node.start_point[0] <= self._row <= node.end_point[0]

    def _record(self, node: tree_sitter.Node, *kinds: str, is_name: bool = False) -> None:
        row, column = node.start_point
        if row == self._row:
            before = self._bytes[:column].decode(errors="replace")
            self.accesses.append(AccessExpression(
                len(before) + 1, frozenset(kinds), frozenset(_names(node)),
                is_name and self._references.isdisjoint(_names(node)),
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
            is_pointer = b"->" in [child.text for child in node.children]
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


def _names(node: tree_sitter.Node) -> Iterator[str]:
    """Variables and members that an expression goes through, those of indices left out."""
    if node.type in ("identifier", "field_identifier"):
        yield (node.text or b"").decode(errors="replace")
    elif node.type == "subscript_expression":
        yield from _names(node.named_children[0])
    elif node.type not in ("call_expression", "type_descriptor", *_UNEVALUATED):
        for child in node.named_children:
            yield from _names(child)


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
