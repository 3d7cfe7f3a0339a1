"""Litmus test to text: what ``parse_litmus`` reads back as the same test."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import zip_longest

from racetrap.golden_model.ptx_memory_model.litmus.litmus_test import LitmusTest, Variable
from racetrap.presenters.litmus_judgement import print_place


def print_litmus(test: LitmusTest) -> str:
    """Text of a test."""
    lines = [f"PTX {test.name}"]
    if test.reason:
        lines += textwrap.wrap(f'"{test.reason}"', 100, break_long_words=False)
    if test.races is not None:
        lines.append(f"Races={test.races.value}")
    if not test.ends:
        lines.append("Ends=never")
    lines.append("{")
    lines += [f"{_variable(variable)};" for variable in test.variables]
    lines += [f"{thread}:{name} = {value};" for (thread, name), value in test.registers.items()]
    lines.append("}")
    lines += _columns(test)
    lines.append(f"{test.quantifier.value} ({test.condition})")
    return "\n".join(lines) + "\n"


def _variable(variable: Variable) -> str:
    type_name = "mbarrier" if variable.is_mbarrier else variable.type.name
    if variable.owner is None:
        return f".global .{type_name} {variable.name} = {variable.value}"
    place = print_place(variable.owner)
    return f".shared .{type_name} {variable.name}{place} = {variable.value}"


def _columns(test: LitmusTest) -> list[str]:
    heads = [
        f"P{number}{print_place(thread.place, thread.place.warp != number)}"
        for number, thread in enumerate(test.threads)
    ]
    columns = [
        [head, *map(str, thread.instructions)]
        for head, thread in zip(heads, test.threads, strict=True)
    ]
    widths = [max(map(len, column)) for column in columns]
    return [_row(cells, widths) for cells in zip_longest(*columns, fillvalue="")]


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f" {' | '.join(padded)} ;"
