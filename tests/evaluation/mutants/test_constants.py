"""Constant bits of a design of registers, a memory, and a block that stands twice."""

import pytest

from racetrap.evaluation.mutants.constants import Constants


def _cell(kind, inputs, outputs, **parameters):
    directions = dict.fromkeys(inputs, "input") | dict.fromkeys(outputs, "output")
    return {"type": kind, "port_directions": directions, "connections": inputs | outputs,
            "parameters": parameters}  # fmt: skip


def _net(bits, init):
    return {"bits": bits, "attributes": {"init": init}}


_DESIGN = {
    "top": {
        "ports": {"i": {"direction": "input", "bits": [2, 3]},
                  "o": {"direction": "output", "bits": [10]}},
        "netnames": {"never": _net([20, 21, 22], "100"), "late": _net([25], "x")},
        "cells": {
            # Its bits: 0 for ever by its own input; 0 until it is 1; 1 for ever.
            "register": _cell("$dff", {"D": [30, "1", 22]}, {"Q": [20, 21, 22]}),
            "without": _cell("$dff", {"D": [22]}, {"Q": [25]}),
            "gate": _cell("$and", {"A": [20, 2], "B": [3, 3]}, {"Y": [30, 31]}),
            "either": _cell("$or", {"A": [22, 2], "B": [2, 3]}, {"Y": [32, 33]}),
            "short": _cell("$and", {"A": [22], "B": [22, 22]}, {"Y": [34, 35]}),
            "signed": _cell("$and", {"A": [22], "B": [22, 22]}, {"Y": [36, 37]}, A_SIGNED="1"),
            "choice": _cell("$mux", {"A": [20, 22], "B": [22, 22], "S": [2]}, {"Y": [38, 39]}),
            "chosen": _cell("$mux", {"A": [2], "B": [22], "S": [25]}, {"Y": [40]}),
            "first": _cell("$pmux", {"A": [22], "B": [22, 2], "S": [2, 20]}, {"Y": [41]}),
            "others": _cell("$pmux", {"A": [22], "B": [22, 20], "S": [2, 3]}, {"Y": [42]}),
            "memory": _cell(
                "$mem_v2", {"WR_DATA": [20, 2, 22], "RD_ADDR": [2]}, {"RD_DATA": [43, 44, 45]},
                WIDTH="11", RD_CLK_ENABLE="0", INIT="100000",
            ),
            "same": _cell("$eq", {"A": [2, 22], "B": [3, 20]}, {"Y": [46]}),
            "perhaps": _cell("$eq", {"A": [2, 22], "B": [3, 22]}, {"Y": [47]}),
            "sum": _cell("$add", {"A": [20], "B": [20]}, {"Y": [48]}),
            "one": _cell("inner", {"a": [20], "b": [22]}, {"y": [49, 50]}),
            "two": _cell("inner", {"a": [22], "b": [22]}, {"y": [51, 10]}),
        },
    },
    "inner": {
        "ports": {"a": {"direction": "input", "bits": [2]},
                  "b": {"direction": "input", "bits": [3]},
                  "y": {"direction": "output", "bits": [4, 5]}},
        "cells": {"both": _cell("$not", {"A": [2, 3]}, {"Y": [4, 5]})},
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("cell", "port", "bits"),
    [
        ("register", "Q", "0-1"), ("register", "D", "011"), ("without", "Q", "1"),
        ("gate", "Y", "0-"), ("gate", "B", "--"), ("either", "Y", "1-"), ("short", "Y", "10"),
        ("signed", "Y", "--"), ("choice", "Y", "-1"), ("chosen", "Y", "1"), ("first", "Y", "1"),
        ("others", "Y", "-"), ("memory", "RD_DATA", "0--"), ("same", "Y", "0"),
        ("perhaps", "Y", "-"), ("sum", "Y", "-"), ("one", "y", "-0"), ("two", "y", "-0"),
    ],
)  # fmt: skip
def test_bits_that_are_constant(cell, port, bits):
    design = Constants(_DESIGN)
    found = [design.of("top", cell, port, number) for number in range(len(bits))]
    assert "".join(each or "-" for each in found) == bits
