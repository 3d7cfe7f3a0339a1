"""Syntax of PTX: text to nodes, names unresolved and instructions unchecked.

Ref: PTX ISA 9.0, Section 4 (syntax); the grammar is ``ptx.lark``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from lark import Lark, UnexpectedCharacters, UnexpectedToken

from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.node_builder import ConstantError, NodeBuilder

#: Names in error messages for the terminals that are not plain text.
_WORDS = {
    "NAME": "a name", "LABEL": "a label", "OPCODE": "an instruction", "INTEGER": "an integer",
    "FLOAT": "a number", "STRING": "a string", "TYPE": "a type", "REGISTER_TYPE": "a type",
    "SPACE": "a state space", "LINKAGE": "a linkage", "LIMIT": "a performance directive",
    "ATTRIBUTE": "an attribute", "$END": "the end of the text",
}  # fmt: skip
#: Terminals that many others go with, and what they all begin.
_GROUPS = (
    ({"OPCODE", "LABEL"}, "a statement"),
    ({"LINKAGE"}, "a declaration"),
    ({"NAME", "LSQB"}, "an operand"),
)


@lru_cache(maxsize=1)
def grammar() -> Lark:
    """Parser of PTX; the first call makes it, which takes a fifth of a second."""
    return Lark.open_from_package(
        "racetrap.sim.gpu.ptx",
        "ptx.lark",
        parser="lalr",
        start="module",
        transformer=NodeBuilder(),
        maybe_placeholders=False,
    )


def _expected(names: Iterable[str]) -> str:
    names = set(names)
    for members, word in _GROUPS:
        if members <= names:
            return word
    words = {
        _WORDS.get(name) or f"'{grammar().get_terminal(name).pattern.value}'" for name in names
    }
    *most, last = sorted(words)
    return f"{', '.join(most)} or {last}" if most else last


def _sentence(expected: Iterable[str], found: str) -> str:
    value = repr(found) if found else "the end of the text"
    return f"Text must go on with {_expected(expected)}, not {value}"


def parse_syntax(text: str, name: str) -> list[Any]:
    """Read a PTX text into the nodes of its module, in order.

    Parameters
    ----------
    text : str
        The PTX.
    name : str
        Name of its file, for messages.

    Raises
    ------
    PtxError
        If the text does not follow the grammar; names the line and what was expected there.
    """
    try:
        items: Any = grammar().parse(text)  # what the callbacks made, not a tree
    except UnexpectedToken as error:
        last = text.count("\n") + 1
        line = error.line if error.token.type != "$END" else last
        raise PtxError(name, line, _sentence(error.expected, str(error.token))) from None
    except UnexpectedCharacters as error:
        word = re.match(r"[^\s,;()\[\]{}]+|.", text[error.pos_in_stream :], re.DOTALL)
        found = word[0] if word else error.char
        raise PtxError(name, error.line, _sentence(error.allowed, found)) from None
    except ConstantError as error:
        raise PtxError(name, error.line, str(error)) from None
    return items
