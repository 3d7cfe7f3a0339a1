"""The part of a CUDA source around a line, its statements, and where others can be put."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

import tree_sitter
import tree_sitter_cuda

from racetrap.sim.gpu.editing.edits import Change, Edit, text_of

_LOOPS = ("for_statement", "while_statement", "do_statement", "for_range_loop")
#: What nests functions.
_OUTER = (
    "namespace_definition", "linkage_specification", "declaration_list", "template_declaration",
    "class_specifier", "struct_specifier", "field_declaration_list", "preproc_ifdef", "preproc_if",
)  # fmt: skip
#: Fields of a statement that are the sides of a branch.
_ARMS = ("consequence", "alternative")
#: Use of a macro at the beginning of a line, up to its parenthesis.
_MACRO = re.compile(rb"^[A-Z_][A-Z0-9_]*\(", re.MULTILINE)
_TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|[()\[\]{},;]', re.DOTALL)


@cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cuda.language()))


def parse(source: bytes) -> tree_sitter.Tree:
    """Syntax tree of a CUDA source."""
    return _parser().parse(source)


@dataclass(frozen=True, slots=True)
class Slot:
    """A place at which a statement can be put.

    Parameters
    ----------
    file : str
        The source.
    byte : int
        Where it goes.
    before, after : str
        Text around it.
    words : str
        Where it is: ``before scan.cu:12``.
    opening, closing : int or None
        Where a brace is opened or closed, beside those in ``before`` and ``after``.
    """

    file: str
    byte: int
    before: str
    after: str
    words: str
    opening: int | None = None
    closing: int | None = None

    def put(self, statement: str) -> Change:
        """Edits that put a statement there."""
        text = f"{self.before}{statement}{self.after}"
        words = f"insert `{statement}` {self.words}"
        braces = [
            Edit(self.file, byte, byte, brace)
            for byte, brace in ((self.opening, "{ "), (self.closing, " }")) if byte is not None
        ]  # fmt: skip
        return (Edit(self.file, self.byte, self.byte, text, words), *braces)


class SourceUnit:
    """The function around a line, or the use of a macro that defines one.

    Parameters
    ----------
    file : str
        Name of the source.
    source : bytes
        Its text.
    line : int
        The line, from 1; 0 for the whole source.

    Attributes
    ----------
    is_macro : bool
        Whether it is the use of a macro.
    start, end : int
        Its first byte, and the one behind its last.
    """

    def __init__(self, file: str, source: bytes, line: int = 0) -> None:
        self.file, self._source, self._lines = file, source, {line}
        self._newline = "\r\n" if b"\r\n" in source else "\n"
        uses = list(_macro_uses(source))
        self._root = parse(_without(source, uses)).root_node
        node = _outermost(self._root, line - 1) if line else self._root
        own = [use for use in uses if self.line_of(use[0]) <= line <= self.line_of(use[1])]
        self.is_macro = bool(own)
        self.start, self.end = own[0] if own else (node.start_byte, node.end_byte)
        if own:
            outside = [(0, self.start), (self.end, len(source))]
            node = parse(_without(source, outside)).root_node
        self._node = node

    @property
    def lines(self) -> list[int]:
        """The line, and others that were added."""
        return sorted(self._lines)

    def add(self, line: int) -> bool:
        """Add a line, if it is in the unit; whether it is."""
        is_in = self.line_of(self.start) <= line <= self.line_of(self.end)
        if is_in:
            self._lines.add(line)
        return is_in

    @property
    def text(self) -> bytes:
        """Its text."""
        return self._source[self.start : self.end]

    def line_of(self, byte: int) -> int:
        """Line of a byte, from 1."""
        return self._source.count(b"\n", 0, byte) + 1

    def place(self, byte: int) -> str:
        """Place of a byte: file and line."""
        return f"{self.file}:{self.line_of(byte)}"

    @cached_property
    def statements(self) -> list[tree_sitter.Node]:
        """Statements in it, in the order of the text; outer ones before inner ones."""
        return [] if self.is_macro else [node for node in _walk(self._node) if _is_statement(node)]

    def chain(self, line: int) -> list[tree_sitter.Node]:
        """Statements around a line, the outermost first; of several in the line the first."""
        chain: list[tree_sitter.Node] = []
        for each in self.statements:
            is_around = each.start_point[0] < line <= each.end_point[0] + 1
            if is_around and (not chain or chain[-1].end_byte >= each.end_byte):
                chain.append(each)
        return chain

    @property
    def accesses(self) -> list[tree_sitter.Node]:
        """Expressions that begin in its lines and may access memory of several threads."""
        own = {
            child.text for node in _walk(self._node)
            if node.type in ("declaration", "parameter_declaration")
            and b"__shared__" not in (node.text or b"")
            for child in _walk(node) if child.type == "identifier"
        }  # fmt: skip
        return [
            node for node in _walk(self._node)
            if node.start_point[0] + 1 in self._lines and node.type in _ACCESSES
            and node.text not in own and not self._is_name(node)
        ]  # fmt: skip

    def _is_name(self, node: tree_sitter.Node) -> bool:
        """Whether an expression names something without an access: what is declared or called, an
        array of which an element is accessed, a variable of CUDA, or an argument of the macro."""
        parent = node.parent
        if parent is None or node.text in _BUILT_IN or parent.type == "template_function":
            return True
        field = {"call_expression": "function", "subscript_expression": "argument"}.get(parent.type)
        if parent.type.endswith(("declaration", "declarator")):
            field = "declarator"
        elif parent.type == "argument_list" and self.is_macro and node.type == "identifier":
            assert parent.parent is not None
            return parent.parent.start_byte == self.start
        return field is not None and parent.child_by_field_name(field) == node

    @property
    def conditions(self) -> list[tree_sitter.Node]:
        """Branches without an alternative that begin in its lines."""
        return [
            node for node in _walk(self._node)
            if node.type == "if_statement" and node.start_point[0] + 1 in self._lines
            and node.child_by_field_name("alternative") is None
        ]  # fmt: skip

    def arms_around(self, where: int | Slot) -> list[tree_sitter.Node]:
        """Sides of branches around a byte, or around what is put at a place."""
        if isinstance(where, Slot):
            first, last = where.opening, where.closing
            start = where.byte if first is None else first
            end = where.byte if last is None else last
            is_braced = first is not None or last is not None
        else:
            start = end = where
            is_braced = False
        return [
            node for node in _walk(self._node)
            if is_arm(node)
            and ((node.start_byte < start and end < node.end_byte)
                 or (is_braced and (node.start_byte, node.end_byte) == (start, end)))
        ]  # fmt: skip

    @cached_property
    def neighbours(self) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """First byte, and the one behind the last, of each two statements next to each other."""
        if self.is_macro:
            spans = self.argument_spans()
            return [
                (one, other) for one, other in pairwise(spans)
                if self._source[one[1] : other[0]].strip() == b";"
            ]  # fmt: skip
        return [
            ((one.start_byte, one.end_byte), (other.start_byte, other.end_byte))
            for one, other in pairwise(self.statements)
            if one.next_named_sibling == other
        ]

    def text_between(self, start: int, end: int) -> bytes:
        """Bytes of the source."""
        return self._source[start:end]

    def argument_spans(self) -> list[tuple[int, int]]:
        """First byte, and the one behind the last, of each statement in a macro's arguments."""
        spans, depth, last = [], 0, self.start
        for token in _TOKEN.finditer(self._source, self.start, self.end):
            depth += (token[0] in b"([{") - (token[0] in b")]}")
            is_end = (token[0] in (b",", b";") and depth == 1) or (token[0] == b")" and not depth)
            if is_end:
                part = self._source[last : token.start()]
                start = last + len(part) - len(part.lstrip())
                spans.append((start, start + len(part.strip())))
            if depth == 1 and token[0] in (b",", b"(", b";"):
                last = token.end()
        return spans

    def argument_trees(self) -> Iterator[tree_sitter.Tree]:
        """Syntax trees of the statements in a macro's arguments; each stays at its byte."""
        for start, end in self.argument_spans():
            outside = [(0, start), (end, len(self._source))]
            yield parse(_without(self._source, outside))

    # Places for statements

    def before(self, node: tree_sitter.Node) -> Slot:
        """The place before a statement."""
        start, words = node.start_byte, f"before {self.place(node.start_byte)}"
        if not _has_neighbours(node):
            return Slot(self.file, start, "{ ", " ", words, closing=node.end_byte)
        return Slot(self.file, start, "", self._gap(start), words)

    def behind(self, node: tree_sitter.Node) -> Slot:
        """The place behind a statement."""
        end, words = node.end_byte, f"after {self.place(node.end_byte)}"
        if not _has_neighbours(node):
            return Slot(self.file, end, " ", " }", words, opening=node.start_byte)
        return Slot(self.file, end, self._gap(node.start_byte), "", words)

    def ends_block(self, node: tree_sitter.Node) -> bool:
        """Whether no statement follows one in its block."""
        following = node.next_named_sibling
        return following is None or not _is_statement(following)

    def in_loop(self, loop: tree_sitter.Node) -> list[Slot]:
        """The end and the beginning of a loop's body."""
        body = loop.child_by_field_name("body")
        if body is None or not is_loop(loop):
            return []
        if body.type != "compound_statement":
            return [self.behind(body), self.before(body)]
        inner = [each for each in body.named_children if each.type != "comment"]
        return [self.behind(inner[-1]), self.before(inner[0])] if inner else []

    def in_arguments(self) -> list[Slot]:
        """Places in the arguments of a macro: before and behind each statement in them."""
        words = f"at {self.place(self.start)}"
        slots = []
        for start, end in self.argument_spans():
            if start < end:
                slots.append(Slot(self.file, start, "", "; ", words))
            slots.append(Slot(self.file, end, "; " * (start < end), "", words))
        return slots

    def _gap(self, start: int) -> str:
        """What stands between two statements of which one begins at a byte: a new line as far in,
        or a space if others stand in its line."""
        indent = text_of(self._source[self._source.rfind(b"\n", 0, start) + 1 : start])
        return " " if indent.strip() else f"{self._newline}{indent}"


_BUILT_IN = (b"threadIdx", b"blockIdx", b"blockDim", b"gridDim", b"warpSize")
_ACCESSES = (
    "update_expression", "assignment_expression", "subscript_expression", "pointer_expression",
    "identifier",
)  # fmt: skip


def _walk(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """Nodes below one, outer ones first."""
    for child in node.named_children:
        yield child
        yield from _walk(child)


def _outermost(node: tree_sitter.Node, row: int) -> tree_sitter.Node:
    """The outermost function around a row, or else what is there."""
    for child in node.named_children:
        if child.start_point[0] <= row <= child.end_point[0]:
            return _outermost(child, row) if child.type in _OUTER else child
    return node


def _macro_uses(source: bytes) -> Iterator[tuple[int, int]]:
    """First byte, and the one behind the last, of each use of a macro that stands alone."""
    for found in _MACRO.finditer(source):
        depth = 0
        for token in _TOKEN.finditer(source, found.end() - 1):
            depth += (token[0] in b"([{") - (token[0] in b")]}")
            if not depth:
                if not source[token.end() :].lstrip().startswith(b"{"):
                    yield found.start(), token.end()
                break


def _without(source: bytes, parts: Sequence[tuple[int, int]]) -> bytes:
    """The source with blanks for parts of it; all else stays at its byte."""
    text = bytearray(source)
    for start, end in parts:
        text[start:end] = re.sub(rb"[^\n]", b" ", text[start:end])
    return bytes(text)


def _is_statement(node: tree_sitter.Node) -> bool:
    """Whether a node is a statement other than a block."""
    if node.parent is None or node.type in ("compound_statement", "comment"):
        return False
    return _has_neighbours(node) or is_arm(node) or _is_field(node, ("body",))


def _has_neighbours(node: tree_sitter.Node) -> bool:
    """Whether other statements may stand beside one."""
    return node.parent is not None and node.parent.type in ("compound_statement", "case_statement")


def _is_field(node: tree_sitter.Node, names: Sequence[str]) -> bool:
    parent = node.parent
    if parent is None or not parent.type.endswith(("statement", "loop", "clause")):
        return False
    return any(parent.child_by_field_name(name) == node for name in names)


def is_arm(node: tree_sitter.Node) -> bool:
    """Whether some threads may leave out a node: it is one side of a branch."""
    parent = node.parent
    is_else = parent is not None and parent.type == "else_clause"
    return is_else or (_is_field(node, _ARMS) and node.type != "else_clause")


def is_loop(node: tree_sitter.Node) -> bool:
    """Whether a statement repeats its body."""
    return node.type in _LOOPS
