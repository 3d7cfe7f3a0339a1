"""Declarations of a CUDA source: functions, types, constants and variables."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import chain
from typing import NamedTuple

import tree_sitter

from racetrap.sim.gpu.editing.edits import text_of
from racetrap.sim.gpu.editing.source_unit import parse

#: Alignments, which the grammar does not know everywhere.
_ALIGNMENT = re.compile(r"\b(?:__align__|alignas)\s*\([^()\n]*(?:\([^()\n]*\))?[^()\n]*\)")
#: Nodes of structures.
STRUCTURES = ("struct_specifier", "class_specifier")
#: Nodes of declarators that are names.
NAMES = ("identifier", "field_identifier", "type_identifier")


class Function(NamedTuple):
    """A function of a source.

    Parameters
    ----------
    node : Node
        Its definition.
    parameters : list of Node
        Declarations of its parameters.
    template : list of str
        Names of its template parameters.
    """

    node: tree_sitter.Node
    parameters: list[tree_sitter.Node]
    template: list[str]


class Index:
    """What a source declares, by name.

    Parameters
    ----------
    root : Node
        Its syntax tree.

    Attributes
    ----------
    functions : dict of str to list of Function
        Functions by name.
    types, constants : dict of str to Node
        What defines each type, and each constant.
    macros : dict of str to str
        Text of each macro without parameters.
    bodies : dict of str to str
        Text of each macro with parameters.
    macro_kernels : list of Function
        Kernels that macros define.
    """

    def __init__(self, root: tree_sitter.Node) -> None:
        self.functions: dict[str, list[Function]] = defaultdict(list)
        self.types: dict[str, tree_sitter.Node] = {}
        self.constants: dict[str, tree_sitter.Node] = {}
        self.macros: dict[str, str] = {}
        self.bodies: dict[str, str] = {}
        self.macro_kernels: list[Function] = []
        for node in nodes_of(root):
            self._add(node)

    def body_of(self, macro: str) -> str | None:
        """Text in the braces of a macro that defines a function, with that of further macros."""
        if macro not in self.bodies:
            return None
        texts = [self.bodies[macro].partition("{")[2]]
        for text in texts:
            for name in set(re.findall(r"\w+", text)):
                further = self.bodies.get(name) or self.macros.get(name)
                if further is not None and further not in texts:
                    texts.append(further)
        return "\n".join(texts)

    def _add(self, node: tree_sitter.Node) -> None:
        field = node.child_by_field_name
        name = text_at(field("name"))
        if node.type == "function_definition":
            self._add_function(node)
        elif node.type == "preproc_def":
            self.macros[name] = text_at(field("value")).strip()
        elif node.type == "preproc_function_def":
            self.bodies[name] = text = text_at(field("value"))
            if "__global__" not in text:
                return
            # The kernels that a macro defines have names of its uses.
            defined = Source(text.replace("\\\n", "  ") + " {}").index.functions.values()
            self.macro_kernels += chain.from_iterable(defined)
        elif node.type in (*STRUCTURES, "enum_specifier") and field("body") is not None:
            self.types[name] = node
        elif node.type in ("alias_declaration", "type_definition"):
            kind, declarator = field("type"), field("declarator")
            if kind is not None:
                self.types[name or text_at(declarator)] = kind
        elif node.type == "enumerator" and (value := field("value")) is not None:
            self.constants[name] = value
        elif node.type == "init_declarator" and (value := field("value")) is not None:
            around = node.parent
            if around is not None and re.match(r"(?:static |inline )*const", text_at(around)):
                self.constants[text_at(field("declarator"))] = value

    def _add_function(self, node: tree_sitter.Node) -> None:
        declarator = node.child_by_field_name("declarator")
        while declarator is not None and declarator.type != "function_declarator":
            inner = declarator.child_by_field_name("declarator")
            declarator = inner or next(iter(declarator.named_children), None)
        if declarator is None:
            return
        name = text_at(declarator.child_by_field_name("declarator")).rpartition("::")[2]
        listed = declarator.child_by_field_name("parameters")
        parameters = [
            each for each in (listed.named_children if listed is not None else [])
            if each.type.endswith("parameter_declaration")
        ]  # fmt: skip
        self.functions[name].append(Function(node, parameters, template_parameters(node)))


class Source:
    """A source and what it declares.

    Parameters
    ----------
    text : str
        The source.

    Attributes
    ----------
    root : Node
        Its syntax tree.
    """

    def __init__(self, text: str) -> None:
        blank = _ALIGNMENT.sub(lambda found: " " * len(found[0].encode()), text)
        self._tree = parse(blank.encode())
        self.root = self._tree.root_node

    @cached_property
    def index(self) -> Index:
        """What it declares, by name."""
        return Index(self.root)

    def function_at(self, line: int) -> Function | None:
        """The innermost function around a line."""
        around = [
            each for functions in self.index.functions.values() for each in functions
            if each.node.start_point[0] < line <= each.node.end_point[0] + 1
        ]  # fmt: skip
        return min(around, key=lambda each: each.node.end_byte - each.node.start_byte, default=None)

    def declarations(
        self, name: str, within: tree_sitter.Node | None = None
    ) -> Iterator[tuple[tree_sitter.Node, tree_sitter.Node]]:
        """Declarations of a name in a part of the source, each with its declarator."""
        for node in nodes_of(within or self.root):
            if node.type in ("declaration", "parameter_declaration", "field_declaration"):
                for declarator in node.children_by_field_name("declarator"):
                    if declared_name(declarator) == name:
                        yield node, declarator


@lru_cache(maxsize=64)
def source_of(text: str) -> Source:
    """What a source declares."""
    return Source(text)


def text_at(node: tree_sitter.Node | None) -> str:
    """Text of a node; empty without one."""
    return text_of(node.text or b"") if node is not None else ""


def template_parameters(node: tree_sitter.Node) -> list[str]:
    """Names of the parameters of the template that a definition is of; none of other ones."""
    around = node.parent
    if around is None or around.type != "template_declaration":
        return []
    given = around.child_by_field_name("parameters")
    names = (
        each.child_by_field_name("name") or each.child_by_field_name("declarator")
        or next(iter(each.named_children), None)
        for each in (given.named_children if given is not None else [])
    )  # fmt: skip
    return [text_at(name) for name in names]


def nodes_of(root: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """A node and all below it, in the order of the text."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending += reversed(node.named_children)


def declared_name(declarator: tree_sitter.Node) -> str:
    """Name in a declarator; empty for one of a function."""
    node: tree_sitter.Node | None = declarator
    while node is not None and node.type not in NAMES:
        if node.type == "function_declarator":
            return ""
        node = node.child_by_field_name("declarator") or next(iter(node.named_children), None)
    return text_at(node)
