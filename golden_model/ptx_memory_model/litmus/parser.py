"""Parser of litmus tests.

Ref: PTX ISA 9.0, Section 8.5 (Scope) and 8.3 (State spaces).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from racetrap.golden_model.checks import unknown_name
from racetrap.golden_model.ptx_memory_model.litmus.checks import check_test
from racetrap.golden_model.ptx_memory_model.litmus.condition import (
    Condition,
    Conjunction,
    Disjunction,
    Equality,
    Negation,
    Observed,
    Quantifier,
    Truth,
)
from racetrap.golden_model.ptx_memory_model.litmus.decoder import decode
from racetrap.golden_model.ptx_memory_model.litmus.errors import LitmusError
from racetrap.golden_model.ptx_memory_model.litmus.instructions import (
    Address,
    DataType,
    Guard,
    Instruction,
    Predicate,
)
from racetrap.golden_model.ptx_memory_model.litmus.litmus_test import (
    LitmusTest,
    RaceExpectation,
    Thread,
    Variable,
)
from racetrap.golden_model.ptx_memory_model.scopes import Place

_VARIABLE_TYPES = ("b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64")


@cache
def _grammar() -> Lark:
    text = Path(__file__).with_name("litmus.lark").read_text(encoding="utf-8")
    return Lark(text, start="test", parser="lalr", propagate_positions=True)


def read_litmus(path: str | Path) -> LitmusTest:
    """Read a file.

    Raises
    ------
    LitmusError
        If the text is no litmus test of PTX, or uses what the model does not cover.
    OSError
        If the file cannot be read.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise LitmusError(str(path), 1, "Litmus test is not UTF-8 text") from None
    return parse_litmus(text, str(path))


def parse_litmus(text: str, file: str = "litmus test") -> LitmusTest:
    """Read a text; messages name it ``file``.

    Raises
    ------
    LitmusError
        If the text is no litmus test of PTX, or uses what the model does not cover.
    """
    try:
        tree = _grammar().parse(text)
        test = _Reader(file).test(tree)
    except UnexpectedInput as error:
        raise LitmusError(file, *_syntax_error(error, text)) from None
    except RecursionError:
        raise LitmusError(file, 1, "Condition is nested too deeply") from None
    check_test(test)
    return test


#: Names of tokens in messages, where they differ from the grammar's.
_TOKENS = MappingProxyType({
    "$END": "its end", "HEADER": "PTX and a name", "LBRACE": "{", "RBRACE": "}", "LSQB": "[",
    "RSQB": "]", "LPAR": "(", "RPAR": ")", "SEMICOLON": ";", "VBAR": "|", "COLON": ":",
    "COMMA": ",", "AT": "@", "PLUS": "+", "MINUS": "-", "NEGATION": "!", "SINK": "_",
    "EQUAL": "=", "UNEQUAL": "!=", "AND": "/\\", "OR": "\\/", "NOT": "~", "TRUE": "true",
    "QUANTIFIER": "exists, ~exists or forall", "THREAD": "P and a number",
    "LEVEL": "warp, cta, cluster or gpu", "REASON": "a reason in quotes",
})  # fmt: skip


def _syntax_error(error: UnexpectedInput, text: str) -> tuple[int, str]:
    """Line and sentence of a syntax error."""
    if isinstance(error, UnexpectedCharacters):
        position = error.pos_in_stream or 0
        allowed: Iterable[object] = error.allowed
        found = repr(text[position : position + 12].split("\n")[0])
    else:
        assert isinstance(error, UnexpectedToken | UnexpectedEOF)
        allowed, found = error.expected, str(getattr(error, "token", ""))
    names = sorted(_TOKENS.get(name, f"a {name.lower()}") for name in map(str, allowed))
    line = error.line if found and error.line > 0 else text.count("\n") + 1
    return line, f"Litmus test must have {' or '.join(names)}, not {found or 'its end'}"


class _Reader:
    """Makes objects from the tree of a test.

    Parameters
    ----------
    file : str
        Name of the file in messages.
    """

    def __init__(self, file: str) -> None:
        self._file = file

    def _fail(self, where: Any, sentence: str) -> LitmusError:
        return LitmusError(self._file, where.line or 1, sentence)

    def test(self, tree: Any) -> LitmusTest:
        """The whole test."""
        tokens = [child for child in tree.children if isinstance(child, Token)]
        trees = [child for child in tree.children if isinstance(child, Tree)]
        variables, registers = self._initial(trees)
        quantifier, condition = self._condition(trees[-1])
        reasons = [token[1:-1] for token in tokens if token.type == "REASON"]
        return LitmusTest(
            name=tokens[0].split()[1],
            reason=" ".join(" ".join(reasons).split()),
            **self._fields([token for token in tokens if token.type == "FIELD"]),
            variables=variables,
            registers=registers,
            threads=self._threads(trees),
            quantifier=quantifier,
            condition=condition,
            file=self._file,
        )

    def _fields(self, fields: list[Token]) -> dict[str, Any]:
        """Expectations of a test besides its condition."""
        values = {"Races": [kind.value for kind in RaceExpectation], "Ends": ["never"]}
        found: dict[str, Any] = {}
        for field in fields:
            key, value = map(str.strip, field.split("=", 1))
            if key not in values:
                raise self._fail(field, f"Field must be {' or '.join(values)}, not {key}")
            if value not in values[key]:
                raise self._fail(field, f"{key} must be {' or '.join(values[key])}, not {value}")
            if key == "Races":
                found["races"] = RaceExpectation(value)
            else:
                found["ends"] = False
        return found

    def _initial(self, trees: list[Any]) -> tuple[tuple[Variable, ...], dict[tuple[int, str], int]]:
        variables: dict[str, Variable] = {}
        registers: dict[tuple[int, str], int] = {}
        for tree in trees:
            if tree.data == "variable":
                variable, name = self._variable(tree)
                if variable.name in variables:
                    raise self._fail(name, f"Variable {name} is declared twice")
                variables[variable.name] = variable
            elif tree.data == "register":
                thread, register, value = tree.children
                registers[int(thread), str(register)] = self._number(value)
        return tuple(variables.values()), registers

    def _variable(self, tree: Any) -> tuple[Variable, Token]:
        tokens = {child.type: child for child in tree.children if isinstance(child, Token)}
        name, space = tokens["NAME"], str(tokens.get("SPACE", ".global"))
        type_name = str(tokens.get("TYPE", ".u32"))[1:]
        places = [child for child in tree.children[:-1] if isinstance(child, Tree)]
        owner = self._place(places[0]) if places else None
        if (owner is not None) != (space == ".shared"):
            raise self._fail(
                name,
                (
                    f"Variable {name} of {space}: a .shared variable needs a CTA, and "
                    "only it can have one"
                ),
            )
        if type_name == "mbarrier" and owner is None:
            raise self._fail(name, f"An mbarrier object lies in .shared, but {name} is of {space}")
        if type_name not in (*_VARIABLE_TYPES, "mbarrier"):
            known = (*_VARIABLE_TYPES, "mbarrier")
            raise self._fail(name, unknown_name("type", str(type_name), known))
        value = self._number(tree.children[-1])
        if type_name == "mbarrier":
            if not 1 <= value < 1 << 16:
                raise self._fail(name, f"Arrivals in a phase must be 1 to 65535, not {value}")
            return Variable(str(name), DataType("b64"), value, owner, True), name
        data_type = DataType(type_name)
        return Variable(str(name), data_type, value % (1 << data_type.bits), owner), name

    def _place(self, tree: Any, **default: int) -> Place:
        levels, numbers = tree.children[::2], tree.children[1::2]
        given = {str(level): int(number) for level, number in zip(levels, numbers, strict=True)}
        if "cta" not in given:
            raise self._fail(levels[0], f"Place names {', '.join(given)} without a cta")
        given.setdefault("cluster", given["cta"])
        return Place(**{**default, **given})

    def _threads(self, trees: list[Any]) -> tuple[Thread, ...]:
        columns = next(tree for tree in trees if tree.data == "columns").children
        rows = [tree for tree in trees if tree.data == "row"]
        cells: list[list[Instruction]] = [[] for _ in columns]
        for row in rows:
            if len(row.children) != len(columns):
                line = row.meta.line
                sentence = f"Row must have {len(columns)} columns, not {len(row.children)}"
                raise LitmusError(self._file, line, sentence)
            for column, cell in zip(cells, row.children, strict=True):
                column += [self._instruction(tree) for tree in cell.children]
        return tuple(
            Thread(place, tuple(column))
            for place, column in zip(self._places(columns), cells, strict=True)
        )

    def _places(self, columns: list[Any]) -> list[Place]:
        """Places of all threads; without ``warp`` each has its own warp."""
        places: list[Place] = []
        for number, column in enumerate(columns):
            name, place = column.children
            if name != f"P{number}":
                raise self._fail(name, f"Column {number} must be P{number}, not {name}")
            alone = self._place(place, warp=number)
            lane = sum(earlier[:4] == alone[:4] for earlier in places)
            places.append(alone._replace(lane=lane))
        return places

    def _instruction(self, tree: Any) -> Instruction:
        children = list(tree.children)
        guard = None
        if isinstance(children[0], Tree):
            *negation, register = children.pop(0).children
            guard = Guard(str(register), bool(negation))
        opcode, *operands = children
        try:
            operation = decode(str(opcode), [self._operand(operand) for operand in operands])
        except ValueError as error:
            raise self._fail(opcode, str(error)) from None
        return Instruction(operation, guard, opcode.line)

    def _operand(self, tree: Any) -> object:
        children = tree.children
        if tree.data == "register_operand":
            return str(children[0])
        if tree.data == "negated_operand":
            return Predicate(str(children[1]), True)
        if tree.data == "constant_operand":
            return self._number(children[0])
        if tree.data == "address":
            return Address(str(children[0]), int(children[1], 0) if len(children) > 1 else 0)
        if tree.data == "vector":
            return tuple(self._operand(child) for child in children)
        return "_"

    @staticmethod
    def _number(tree: Any) -> int:
        *minus, digits = tree.children
        return -int(digits, 0) if minus else int(digits, 0)

    def _condition(self, tree: Any) -> tuple[Quantifier, Condition]:
        quantifier, body = tree.children
        return Quantifier(str(quantifier)), self._formula(body)

    def _formula(self, tree: Any) -> Condition:
        children = [child for child in tree.children if isinstance(child, Tree)]
        if tree.data in ("equality", "inequality"):
            value = int(str(tree.children[-1]), 0)
            return Equality(self._observed(children[0]), value, tree.data == "equality")
        if tree.data == "truth":
            return Truth()
        if tree.data == "negated":
            return Negation(self._formula(children[0]))
        parts = tuple(self._formula(child) for child in children)
        return Conjunction(parts) if tree.data == "conjunction" else Disjunction(parts)

    @staticmethod
    def _observed(tree: Any) -> Observed:
        if len(tree.children) == 1:
            return str(tree.children[0])
        thread, register = tree.children
        return int(thread), str(register)
