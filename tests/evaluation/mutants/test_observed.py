"""Bits that outputs may depend on, in a design of a memory, a register and a block inside."""

import pytest

from racetrap.evaluation.mutants.observed import Observed


def _cell(kind, inputs, outputs, **parameters):
    directions = dict.fromkeys(inputs, "input") | dict.fromkeys(outputs, "output")
    return {"type": kind, "port_directions": directions, "connections": inputs | outputs,
            "parameters": parameters}  # fmt: skip


#: Of the memory's words of two bits the first is read alone; of the block's outputs, too.
_DESIGN = {
    "top": {
        "ports": {"i": {"direction": "input", "bits": [2, 3, 4, 5]},
                  "o": {"direction": "output", "bits": [10, 21]}},
        "cells": {
            "memory": _cell(
                "$mem_v2", {"WR_DATA": [2, 3, 4, 5], "WR_ADDR": [3], "RD_ADDR": ["0"]},
                {"RD_DATA": [6, 7]}, WIDTH="10",
            ),
            "block": _cell("inner", {"a": [6, 7, 2]}, {"y": [20, 21]}),
            "register": _cell("$dff", {"D": [20, 21], "CLK": [5]}, {"Q": [11, 10]}),
            "sum": _cell("$add", {"A": [6, 7], "B": [2, 3]}, {"Y": [30, 31]}),
        },
    },
    "inner": {
        "ports": {"a": {"direction": "input", "bits": [2, 3, 4]},
                  "y": {"direction": "output", "bits": [5, 6]}},
        "cells": {
            "choice": _cell("$pmux", {"A": [3, 2], "B": [4, 2, 4, 2], "S": [2, 2]}, {"Y": [5, 6]}),
        },
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("module", "cell", "port", "seen"),
    [
        ("top", "memory", "WR_DATA", "1010"),
        ("top", "memory", "WR_ADDR", "1"),
        ("top", "memory", "RD_DATA", "10"),
        ("top", "block", "a", "100"),
        ("top", "block", "y", "01"),
        ("top", "register", "D", "01"),
        ("top", "register", "CLK", "1"),
        ("top", "sum", "Y", "00"),
        ("top", "sum", "A", "00"),
        ("inner", "choice", "A", "01"),
        ("inner", "choice", "B", "0101"),
        ("inner", "choice", "S", "11"),
    ],
)
def test_bits_that_are_seen(module, cell, port, seen):
    observed = Observed(_DESIGN)
    bits = [observed.sees(module, cell, port, number) for number in range(len(seen))]
    assert "".join(str(int(bit)) for bit in bits) == seen
