"""The expression of a line that makes an access.

PTX has the column of the first statement of a line alone; which expression makes an access is found
by what it does, and to which variable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import tree_sitter

from racetrap.sim.gpu.editing.expressions import AccessExpression, LineAccesses, line_accesses


class MemoryAccess(NamedTuple):
    """What is known of an access.

    Parameters
    ----------
    kind : str
        What it does: ``load``, ``store`` or ``atomic``.
    name : str
        The variable or allocation; empty if unknown.
    part : str
        Its part, such as ``[3].next``; an index is that of the source only in a variable.
    space : str
        Its memory, ``global`` or ``shared``.
    size : int
        Its bytes; 0 if unknown.
    """

    kind: str
    name: str
    part: str
    space: str
    size: int


class Mark(NamedTuple):
    """A part of a line.

    Parameters
    ----------
    column : int
        Its first column, from 1.
    width : int
        Its columns: 1 for the one expression that makes an access, of which only the first is
        given; more for an expression around several of which any may.
    """

    column: int
    width: int


def access_mark(text: str, line: int, access: MemoryAccess) -> Mark | None:
    """The one expression in a line that makes an access, or one around all that may.

    Parameters
    ----------
    text : str
        The source.
    line : int
        The line, from 1.
    access : MemoryAccess
        The access.
    """
    found = line_accesses(text, line)
    able = [each for each in found.accesses if access.kind in each.kinds]
    base, *members = re.findall(r"[A-Za-z_]\w*", _own_name(access.name) + access.part) or [""]
    if re.search(rf"\b{re.escape(base)}\b", found.body or ""):
        return None  # the macro's own text may make it
    named = [each for each in able if base and base in each.names]
    # A pointer is in a register: what it points to is accessed.
    named = [each for each in named if not each.is_name] or named
    if not named and not found.has_macro:
        named = _unnamed(able, found, access.space)
    named = _narrowed(named, lambda each: each.names.issuperset(members))
    named = _narrowed(named, lambda each: _may_have_index(each.node, access))
    sizes = (0, access.size) if access.size else ()
    named = _narrowed(named, lambda each: not sizes or found.size_of(each.node) in sizes)
    return _mark([each.node for each in named], line, found.text)


def _own_name(name: str) -> str:
    """A name without its namespaces."""
    return name.rpartition("::")[2]


def _narrowed(
    found: list[AccessExpression], fits: Callable[[AccessExpression], bool]
) -> list[AccessExpression]:
    """Of several expressions those that fit, if some do."""
    return [each for each in found if fits(each)] or found if len(found) > 1 else found


def _unnamed(
    able: list[AccessExpression], found: LineAccesses, space: str
) -> list[AccessExpression]:
    """Expressions through pointers, which may have another name than what they point to."""
    able = [each for each in able if not each.is_name and not each.names & found.local]
    is_shared = space == "shared"
    sure = [each for each in able if bool(each.names & found.shared) == is_shared]
    # A pointer to shared memory is no argument of a kernel, nor another variable there.
    others = (each for each in able if not each.names & (found.arguments | found.shared))
    return sure or [each for each in others if is_shared]


def _may_have_index(node: tree_sitter.Node, access: MemoryAccess) -> bool:
    """Whether a number as index is that of the part."""
    index = re.match(r"\[(\d+)\]", access.part)
    while node.type == "field_expression":
        node = node.child_by_field_name("argument") or node
    if index is None or node.type != "subscript_expression":
        return True
    number = node.named_children[-1]
    number = next(iter(number.named_children), number)
    return number.type != "number_literal" or number.text == index[1].encode()


def _mark(nodes: Sequence[tree_sitter.Node], line: int, text: bytes) -> Mark | None:
    """The only one of some expressions, or the smallest around all."""
    if not nodes:
        return None
    starts = {node.start_byte for node in nodes}
    start, end = min(starts), max(node.end_byte for node in nodes)
    around = nodes[0]
    while around.parent is not None and not around.start_byte <= start < end <= around.end_byte:
        around = around.parent
    (row, first), (last_row, last) = around.start_point, around.end_point
    begin = first if row == line - 1 else len(text) - len(text.lstrip())
    last = last if last_row == line - 1 else len(text.rstrip())
    width = len(text[begin:last].decode(errors="replace"))
    column = len(text[:begin].decode(errors="replace")) + 1
    return Mark(column, width if len(starts) > 1 else 1)
