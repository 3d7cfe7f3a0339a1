"""Accesses of some lines as atomics."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from racetrap.sim.gpu.editing.edits import Change, Edit, text_of
from racetrap.sim.gpu.editing.source_unit import SourceUnit

_UPDATES = {
    "+": "atomicAdd(&{0}, {1})", "-": "atomicAdd(&{0}, -({1}))", "|": "atomicOr(&{0}, {1})",
    "&": "atomicAnd(&{0}, {1})", "^": "atomicXor(&{0}, {1})",
}  # fmt: skip
#: Functions of two values, and the atomics that update by them.
_FUNCTIONS = {
    "min": "atomicMin", "max": "atomicMax", "__hadd": "atomicAdd", "__hadd2": "atomicAdd",
}  # fmt: skip

_VOLATILE = re.compile(r"\(\s*volatile\s+(?=[^()]*\*\s*\))")
_EXTREMUM = re.compile(
    r"if\s*\(\s*(?P<one>[^<>=]+?)\s*(?P<sign>[<>])\s*[^;{}]+\)\s*\{?\s*(?P<other>[^=;{}]+?)\s*="
    r"\s*(?P<value>[^;{}]+?)\s*;?\s*\}?$"
)
_CYCLIC = re.compile(
    r"\(?(?P<one>[^?]+?)\s*>=\s*(?P<most>[^?]+?)\)?\s*\?\s*0\s*:\s*(?P<other>.+?)\s*\+\s*1$"
)


def atomics(unit: SourceUnit) -> Iterator[Change]:
    """Changes that make an atomic of an update, a store or a load.

    Parameters
    ----------
    unit : SourceUnit
        The function.
    """
    for start, end in unit.argument_spans() if unit.is_macro else ():
        statement = text_of(unit.text_between(start, end))
        if text := _extremum(statement).rstrip(";"):
            words = f"change `{statement}` to `{text}` at {unit.place(start)}"
            yield (Edit(unit.file, start, end, text, words),)
    for node in (*unit.conditions, *unit.accesses):
        if text := _atomic(node):
            words = f"change `{_text(node)}` to `{text}` at {unit.place(node.start_byte)}"
            yield (Edit(unit.file, node.start_byte, node.end_byte, text, words),)


def _atomic(node: tree_sitter.Node) -> str:
    """The atomic that does what an expression does; empty if there is none."""
    if node.type == "update_expression":
        operator = _text(node.child_by_field_name("operator"))[0]
        return _UPDATES[operator].format(_plain(node.child_by_field_name("argument")), 1)
    if node.type == "if_statement":
        return _extremum(_text(node))
    if node.type == "assignment_expression":
        return _assignment(node)
    parent = node.parent
    assert parent is not None
    is_target = parent.type == "update_expression" or (
        parent.type == "assignment_expression" and parent.child_by_field_name("left") == node
    )
    is_address = node.type == "pointer_expression" and not _text(node).startswith("*")
    return "" if is_target or is_address else f"atomicAdd(&{_plain(node)}, 0)"


def _extremum(statement: str) -> str:
    """`if (a < b) a = b` as an atomic."""
    found = _EXTREMUM.match(statement)
    if found is None or found["one"] != found["other"]:
        return ""
    name = "atomicMax" if found["sign"] == "<" else "atomicMin"
    return f"{name}(&{found['one']}, {found['value']});"


def _assignment(node: tree_sitter.Node) -> str:
    left, right = (node.child_by_field_name(name) for name in ("left", "right"))
    operator, target = _text(node.child_by_field_name("operator")), _plain(left)
    if operator != "=":
        form = _UPDATES.get(operator[:-1], "")
        return form.format(target, _text(right))
    assert right is not None
    if right.type == "binary_expression":
        sides = [_plain(right.child_by_field_name(name)) for name in ("left", "right")]
        inner = _text(right.child_by_field_name("operator"))
        if target in sides and inner in _UPDATES and (inner != "-" or sides[0] == target):
            sides.remove(target)
            return _UPDATES[inner].format(target, sides[0])
    if right.type == "conditional_expression" and (cyclic := _CYCLIC.match(_text(right))):
        same = {" ".join(cyclic[name].split()) for name in ("one", "other")}
        if same == {target}:
            return f"atomicInc((unsigned *)&{target}, {cyclic['most']})"
    if right.type == "call_expression":
        values = [_text(each) for each in right.children[-1].named_children]
        name = _FUNCTIONS.get(_text(right.child_by_field_name("function")))
        if name and len(values) == 2 and target in values:
            values.remove(target)
            return f"{name}(&{target}, {values[0]})"
    return f"atomicExch(&{target}, {_text(right)})"


def _text(node: tree_sitter.Node | None) -> str:
    return text_of((node and node.text) or b"")


def _plain(node: tree_sitter.Node | None) -> str:
    """Text of a location, whose pointer no cast makes volatile: atomics take none of these."""
    return _VOLATILE.sub("(", _text(node))
