"""Calls of a CUDA source that allocate memory, and what gets its address."""

from __future__ import annotations

import re
from typing import NamedTuple

import tree_sitter

from racetrap.sim.gpu.editing.declarations import (
    Function,
    Source,
    declared_name,
    nodes_of,
    text_at,
)
from racetrap.sim.gpu.editing.type_names import Types, type_of
from racetrap.sim.gpu.editing.types import Type

#: Functions that store an address where their first argument points, and those that return one.
_STORING = re.compile(r"cuda\w*(?:Malloc|Alloc)\w*")
_RETURNING = ("malloc", "new_expression")
#: Not every call of a line with a branch is made.
_BRANCHES = ("if_statement", "conditional_expression", "else_clause")


class Allocation(NamedTuple):
    """A call that allocates.

    Parameters
    ----------
    function : str
        What is called.
    name : str
        What gets the address, as the source has it.
    kind : Type or None
        Type of what the address is that of.
    is_passed_on : bool
        Whether the function around it gives the address to its caller.
    """

    function: str
    name: str
    kind: Type | None
    is_passed_on: bool


def allocations_at(source: Source, line: int, types: Types) -> list[Allocation]:
    """Calls of a line that allocate, in their order; none if not all of them need be made."""
    around = source.function_at(line)
    found: list[Allocation] = []
    for node in nodes_of(around.node if around else source.root):
        if not node.start_point[0] < line <= node.end_point[0] + 1:
            continue
        if node.type in _BRANCHES and node.start_point[0] + 1 == line and found:
            return []
        call = _call(node)
        if call is not None:
            function, target, is_address = call
            kind = type_of(target, source, around and around.node, types)
            pointee = kind.pointee() if kind and kind.pointee else None
            if not is_address and function.startswith("cuda"):
                pointee = pointee.pointee() if pointee and pointee.pointee else None
            name = text_at(target)
            found.append(Allocation(function, name, pointee, _is_passed_on(name, around)))
    return found


def _call(node: tree_sitter.Node) -> tuple[str, tree_sitter.Node, bool] | None:
    """Function and target of a call that allocates, and whether the target's address is given."""
    if node.type in ("assignment_expression", "init_declarator"):
        value = node.child_by_field_name("right") or node.child_by_field_name("value")
        target = node.child_by_field_name("left") or node.child_by_field_name("declarator")
        made = _plain(value)
        if made is None or target is None:
            return None
        function = made.type
        if made.type == "call_expression":
            function = text_at(made.child_by_field_name("function"))
        if function not in _RETURNING:
            return None
        if node.type == "init_declarator":
            names = (each for each in nodes_of(target) if each.type == "identifier")
            target = next(names, target)
        return function.partition("_")[0], target, False
    if node.type != "call_expression":
        return None
    called, arguments = (node.child_by_field_name(name) for name in ("function", "arguments"))
    if called is not None and called.type == "template_function":
        called = called.child_by_field_name("name")
    given = arguments.named_children if arguments is not None else []
    target = _plain(next((each for each in given if each.type != "comment"), None))
    if target is None or not _STORING.fullmatch(text_at(called)):
        return None
    is_address = target.type == "pointer_expression" and text_at(target).startswith("&")
    inner = _plain(target.child_by_field_name("argument")) if is_address else target
    return (text_at(called), inner, is_address) if inner is not None else None


def _plain(node: tree_sitter.Node | None) -> tree_sitter.Node | None:
    """An expression without casts and parentheses."""
    while node is not None:
        if node.type == "cast_expression":
            node = node.child_by_field_name("value")
        elif node.type == "parenthesized_expression":
            node = next(iter(node.named_children), None)
        elif node.type == "call_expression" and "_cast<" in text_at(
            node.child_by_field_name("function")
        ):
            arguments = node.child_by_field_name("arguments")
            node = next(iter(arguments.named_children), None) if arguments else None
        else:
            break
    return node


def _is_passed_on(name: str, around: Function | None) -> bool:
    if around is None:
        return False
    returned = (
        text_at(node).removeprefix("return").strip(" ;") for node in nodes_of(around.node)
        if node.type == "return_statement"
    )  # fmt: skip
    parameters = {
        declared_name(declarator)
        for each in around.parameters for declarator in each.children_by_field_name("declarator")
    }  # fmt: skip
    return name in returned or name.lstrip("*") in parameters
