"""The table of instructions has everything that the executor runs."""

import re

from docs.site.ptx_support import instructions_table, types_table
from racetrap.sim.gpu.executor.arithmetic.instruction_set import ARITHMETIC_OPCODES
from racetrap.sim.gpu.executor.arithmetic.scalars import SCALARS
from racetrap.sim.gpu.executor.codegen.basic_blocks import _HANDLERS


def test_every_instruction_is_listed():
    assert set(re.findall(r"`(\w+)`", instructions_table())) == ARITHMETIC_OPCODES | set(_HANDLERS)


def test_floats_are_no_integers():
    rows = dict(line.strip("| ").split(" | ") for line in instructions_table().splitlines())
    assert "`sqrt`" in rows["arithmetic on floating point"]
    assert "`sqrt`" not in rows["arithmetic on integers and bits"]


def test_every_type_is_listed():
    assert set(re.findall(r"`\.(\w+)`", types_table())) == {each.name for each in SCALARS.values()}
