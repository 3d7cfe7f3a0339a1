"""Types of a CUDA source by their names and declarations, as far as their layout is known."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType

import tree_sitter

from racetrap.sim.gpu.editing.declarations import (
    NAMES,
    STRUCTURES,
    Source,
    declared_name,
    nodes_of,
    template_parameters,
    text_at,
)
from racetrap.sim.gpu.editing.source_unit import parse
from racetrap.sim.gpu.editing.types import Type, array_of, number_type, pointer_to, structure

_OPERATORS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv,
    "%": operator.mod, "<<": operator.lshift, ">>": operator.rshift,
}  # fmt: skip
_DIVISIONS = (operator.floordiv, operator.mod)
#: A type may be defined by itself in a source that does not compile.
_MOST_DEPTH = 16


class Types:
    """Types of several sources, of which the first hides what others call the same.

    Parameters
    ----------
    sources : sequence of Source
        The sources.
    arguments : mapping of str to str
        Arguments of a template by the names of its parameters.
    """

    def __init__(
        self, sources: Sequence[Source], arguments: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._sources, self._arguments = sources, arguments
        self._depth = 0

    def of(self, declaration: tree_sitter.Node, declarator: tree_sitter.Node) -> Type | None:
        """Type of what a declarator of a declaration declares."""
        found = self._type(declaration.child_by_field_name("type"))
        return self._declared(found, declarator)

    def _declared(self, found: Type | None, declarator: tree_sitter.Node | None) -> Type | None:
        """Type of a declarator, given that of what stands before it."""
        if declarator is None or declarator.type in NAMES:
            return found
        if declarator.type.endswith("pointer_declarator"):
            pointee = found
            found = pointer_to(lambda: pointee)
        elif declarator.type == "array_declarator":
            size = declarator.child_by_field_name("size")
            length = 0 if size is None else self._value(size)
            if found is None or length is None:
                return None
            found = array_of(found, length)
        elif declarator.type not in (
            "init_declarator", "parenthesized_declarator", "reference_declarator",
        ):  # fmt: skip
            return None
        inner = declarator.child_by_field_name("declarator")
        if inner is None:
            inner = next((each for each in declarator.named_children if not _is_word(each)), None)
        return self._declared(found, inner)

    def named(self, name: str) -> Type | None:
        """The type of a name."""
        name = re.sub(r"\b(?:const|volatile|struct)\b|^\w+(?:::\w+)*::", "", name).strip()
        if name.endswith("*"):
            return pointer_to(lambda: self.named(name[:-1]))
        if (found := number_type(name)) is not None:
            return found
        if name in self._arguments:
            return self.named(self._arguments[name])
        for source in self._sources:
            if name in source.index.types:
                return self._type(source.index.types[name])
        return None

    def _type(self, node: tree_sitter.Node | None) -> Type | None:
        """The type that a node names or defines."""
        if node is None or self._depth > _MOST_DEPTH:
            return None
        self._depth += 1
        try:
            if node.type == "type_descriptor":
                inner = self._type(node.child_by_field_name("type"))
                is_pointer = node.child_by_field_name("declarator") is not None
                return pointer_to(lambda: inner) if is_pointer else inner
            if node.type in STRUCTURES and node.child_by_field_name("body") is not None:
                return self._structure(node)
            if node.type == "enum_specifier":
                base = node.child_by_field_name("base")
                return self.named(text_at(base)) if base is not None else number_type("int")
            name = node.child_by_field_name("name")
            if node.type in STRUCTURES:
                return self.named(text_at(name))
            if node.type == "qualified_identifier":
                return self._type(name)
            if node.type == "template_type":
                arguments = node.child_by_field_name("arguments")
                given = arguments.named_children if arguments is not None else []
                return self._instance(text_at(name), given)
            return self.named(text_at(node))
        finally:
            self._depth -= 1

    def _instance(self, name: str, arguments: Sequence[tree_sitter.Node]) -> Type | None:
        """An instance of a template; an atomic has the layout of what it holds."""
        if name == "atomic":
            return self._type(next(iter(arguments), None))
        for source in self._sources:
            if (node := source.index.types.get(name)) is not None:
                given = [self._arguments.get(text, text) for text in map(text_at, arguments)]
                own = dict(zip(template_parameters(node), given, strict=False))
                instance = Types(self._sources, own)
                # A name may stand for an instance of itself in another namespace.
                instance._depth = self._depth
                return instance.named(name)
        return None

    def _structure(self, node: tree_sitter.Node) -> Type | None:
        """A structure; nothing for one with bases, virtual functions or members of unknown type."""
        body = node.child_by_field_name("body")
        if body is None or any(each.type == "base_class_clause" for each in node.named_children):
            return None
        members = []
        for field in body.named_children:
            text = text_at(field)
            if text.startswith("virtual"):
                return None
            if field.type != "field_declaration" or text.startswith("static"):
                continue
            if any(each.type == "bitfield_clause" for each in field.named_children):
                return None
            for declarator in field.children_by_field_name("declarator"):
                if not (name := declared_name(declarator)):
                    continue
                found = self.of(field, declarator)
                if found is None or not found.size:
                    return None
                members.append((name, found))
        return structure(members)

    def _value(self, node: tree_sitter.Node | None) -> int | None:
        """Value of a constant expression, as far as it is a simple one."""
        if node is None or self._depth > _MOST_DEPTH:
            return None
        self._depth += 1
        try:
            if node.type == "number_literal":
                return _number(text_at(node))
            if node.type == "parenthesized_expression":
                return self._value(next(iter(node.named_children), None))
            if node.type == "binary_expression":
                values = [self._value(node.child_by_field_name(side)) for side in ("left", "right")]
                operation = _OPERATORS.get(text_at(node.child_by_field_name("operator")))
                one, other = values
                if operation is None or one is None or other is None:
                    return None
                return None if not other and operation in _DIVISIONS else operation(one, other)
            return self._constant(text_at(node).rpartition("::")[2])
        finally:
            self._depth -= 1

    def _constant(self, name: str) -> int | None:
        if name in self._arguments:
            return self._value(_expression(self._arguments[name]))
        for source in self._sources:
            if name in source.index.macros:
                return self._value(_expression(source.index.macros[name]))
            if name in source.index.constants:
                return self._value(source.index.constants[name])
        return None


def _is_word(node: tree_sitter.Node) -> bool:
    """Whether a node in a declarator qualifies it."""
    return node.type in ("type_qualifier", "ms_pointer_modifier")


def _number(text: str) -> int | None:
    """An integer as C++ writes it."""
    text = re.sub(r"^\([\w ]+\)", "", text).replace("'", "").rstrip("uUlL")
    try:
        return int(text, 0)
    except ValueError:
        return None


@cache
def _expression(text: str) -> tree_sitter.Node | None:
    tree = parse(f"int x = {text};".encode())
    found = (node for node in nodes_of(tree.root_node) if node.type == "init_declarator")
    node = next(found, None)
    return node.child_by_field_name("value") if node is not None else None


def type_of(
    node: tree_sitter.Node | None, source: Source, around: tree_sitter.Node | None, types: Types
) -> Type | None:
    """Type of a variable, an element or a member, in the function around it."""
    if node is None:
        return None
    if node.type in ("subscript_expression", "pointer_expression"):
        whole = type_of(node.child_by_field_name("argument"), source, around, types)
        if whole is None:
            return None
        return whole.element or (whole.pointee() if whole.pointee else None)
    if node.type == "field_expression":
        name = text_at(node.child_by_field_name("field"))
        found = list(source.declarations(name))
        is_member = [each for each in found if each[0].type == "field_declaration"]
        return types.of(*is_member[0]) if len(is_member) == 1 else None
    places = ([around] if around else []) + [source.root]
    for place in places:
        for declaration in source.declarations(text_at(node), place):
            return types.of(*declaration)
    return None
