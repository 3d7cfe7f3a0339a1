"""The SystemVerilog package: two readers that are not ours find in it what Python has."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from enum import Enum
from random import Random
from typing import Any

import pytest

from racetrap.generators import systemverilog_package as package
from racetrap.generators.description import describe_ports, describe_registers
from racetrap.generators.presets import find_preset, package_name
from racetrap.generators.systems import system_of
from racetrap.golden_model.layout import Layout
from tests.support.campaign import later_but
from tests.support.rtl.linters import slang_findings, verilator_findings

SEED = 1
READERS = (verilator_findings, slang_findings)
#: With their parts.
SMALL = ("scord-tiny", "sigrace-tiny")
#: Presets with what the small ones lack, among them two of the size of real chips.
OTHERS = (
    "causality-tiny", "hirace-tiny", "noncoherent-tiny", "scord-wide", "scord-v100", "scord-local",
    "causality", "causality-a100", "sigrace", "noncoherent",
    *(f"random-{number}" for number in range(10)),
    *(f"causality-random-{number}" for number in range(5)),
)  # fmt: skip


def made(preset):
    """Parameters, tops, and text of the package of a preset."""
    params = find_preset(preset).params
    system = system_of(params)
    tops = {part: make(params) for part, make in {"": system.top, **system.parts}.items()}
    return params, tops, package.systemverilog_package(preset, params, tops)


def random_values(layout: Layout, random: Random) -> dict[str, Any]:
    return {
        name: random_values(shape, random)
        if isinstance(shape, Layout)
        else random.getrandbits(shape)
        for name, shape in layout.fields.items()
    }


def assignments(layout: Layout, values: Mapping[str, Any], word: str) -> Iterator[str]:
    """Statements that give each member of ``word`` its value."""
    for name, shape in layout.fields.items():
        member = f"{word}.{package.member_name(name)}"
        if isinstance(shape, Layout):
            yield from assignments(shape, values[name], member)
        elif shape:
            yield f"    {member} = type({member})'({shape}'h{values[name]:x});"


def elements(ports) -> dict[str, int]:
    """Elements of each port that has some, by its name before their number."""
    numbers = [re.match(r"(.*?)__(\d+)(?=__|$)", port) for port in ports]
    return {found[1]: int(found[2]) + 1 for found in numbers if found}


def expected_values(params, tops, text) -> Iterator[tuple[str, str, int]]:
    """Expressions of the package, each with a function that they need and with Python's value."""
    random = Random(SEED)
    for name in system_of(params).layouts:
        layout = getattr(params, f"{name}_layout")
        yield f"$bits({name}_t)", "", layout.width
        for number in range(3):
            values = random_values(layout, random)
            function = f"{name}_{number}"
            lines = [
                f"  function automatic {name}_t {function}();",
                f"    {name}_t word;",
                *assignments(layout, values, "word"),
                f"    {function} = word;",
                "  endfunction",
            ]
            yield f"{function}()", "\n".join(lines), layout.pack(values)
    for part, top in tops.items():
        for port, described in describe_ports(top).items():
            name = re.sub(r"__\d+(?=__|$)", "", port)
            own = f"{part.replace('-', '_')}__{name}"
            if described["width"] > 1:
                kind = own if f" {own}_t;" in text else name
                yield f"$bits({kind}_t)", "", described["width"]
        for name, count in elements(describe_ports(top)).items():
            own = f"{part.replace('-', '_')}__{name}_COUNT".upper()
            yield own if f" {own} " in text else f"{name}_COUNT".upper(), "", count
    for name, value in asdict(params).items():
        if not isinstance(value, Enum | str):
            yield name.upper(), "", int(value)
    for name, register in describe_registers(params).items():
        yield f"{name}_OFFSET", "", register["offset"]


def findings(preset, params, tops, text, folder):
    """What the readers find in a module that compares the package with Python."""
    (folder / f"{package_name(preset)}.sv").write_text(text)
    rows = [*dict.fromkeys(expected_values(params, tops, text))]
    lines = [f'`include "{package_name(preset)}.sv"', "module check;"]
    lines += [f"  import {package_name(preset)}::*;", *(row[1] for row in rows if row[1])]
    for number, (expression, _, value) in enumerate(rows):
        width = max(32, value.bit_length())
        lines.append(
            f"  if ({width}'({expression}) != {width}'h{value:x}) begin : differs_{number} "
            f'$error("{expression} is not {value:#x}"); end'
        )
    (folder / "check.sv").write_text("\n".join([*lines, "endmodule", ""]))
    return [find(folder / "check.sv") for find in READERS]


@pytest.mark.parametrize("preset", later_but(lambda preset: preset in SMALL, (*SMALL, *OTHERS)))
def test_random_words_widths_and_parameters_are_those_of_python(preset, tmp_path):
    assert findings(preset, *made(preset), tmp_path) == ["", ""], f"seed {SEED}"


def test_members_in_another_order_are_found(tmp_path):
    params, tops, text = made("hirace-tiny")
    shared, scope = "    logic shared;\n", "    scope_e scope;\n"
    moved = text.replace(f"{shared}{scope}", f"{scope}{shared}")
    assert moved != text
    for found in findings("hirace-tiny", params, tops, moved, tmp_path):
        assert re.search(r"transaction_\d\(\) is not", found)


def test_codes_have_the_names_of_their_enumerations():
    _, _, text = made("scord-tiny")
    for line in (
        "    TRANSACTION_KIND_ATOMIC = 3'd2,",
        "    packet_kind_e kind;",
        "    table_row_e row;",
        "  typedef transaction_t i_transaction__payload_t;",
        "  localparam int I_TRANSACTION_COUNT = 2;",
        "  localparam int O_FENCING_COUNT = 2;",
    ):
        assert line in text.splitlines()


def test_keywords_are_those_of_slang():
    # In a process of its own: its bindings do not end cleanly in pytest.
    program = "from pyslang.parsing import TokenKind; print(*(kind.name for kind in TokenKind))"
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    slang = {name.removesuffix("Keyword").lower() for name in done.stdout.split()
             if name.endswith("Keyword")}  # fmt: skip
    assert {word.replace("_", "") for word in package._KEYWORDS.split()} == slang - {"onestep"}
