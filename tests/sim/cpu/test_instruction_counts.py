"""Instructions of recorded programs: against loops whose instructions are known."""

import re

import numpy as np
import pytest

from racetrap.sim.cpu.compiler import compile_program
from racetrap.sim.cpu.instruction_counts import COUNT_DTYPE, write_counts
from racetrap.sim.gnu_tools import run_tool
from tests.support.threads.recordings import record_text

_LOOP = """
static int values[64];
int main(int count, char **arguments) {
    (void)count;
    int rounds = atoi(arguments[1]);
    for (int i = 0; i < rounds; i++) {
        __asm__ volatile(BODY);
        values[i & 63]++;
    }
    return 0;
}
"""


def _instructions(folder, body: str, rounds: int) -> int:
    trace = record_text(folder, _LOOP.replace("BODY", f'"{body}"'), str(rounds))
    return int(trace.events["instructions"].sum(dtype=np.int64))


def test_the_table_reaches_behind_all_code(tmp_path):
    source, table = tmp_path / "case.c", tmp_path / "counts"
    source.write_text(
        '__attribute__((section("behind_all"), naked, used)) void last(void) {'
        ' __asm__("call main"); }\nint main(void) { return 0; }\n'
    )
    program = compile_program([source], tmp_path, [], [])
    write_counts(program, table)
    sections = run_tool(["readelf", "--sections", "--wide", str(program)], "No sections")
    ends = [
        int(address, 16) + int(size, 16)
        for address, size in re.findall(r"PROGBITS +(\w+) \w+ (\w+) \w+ +AX ", sections)
    ]
    assert len(ends) >= 3
    assert table.stat().st_size // COUNT_DTYPE.itemsize > max(ends)


@pytest.mark.parametrize("more", [1, 10, 100])
def test_instructions_without_accesses_count(tmp_path, more):
    bare, full = (_instructions(tmp_path, "mov %eax, %eax;" * count, 1000) for count in (0, more))
    assert full - bare == 1000 * more


def test_a_loop_costs_what_it_costs_unrecorded(tmp_path):
    short, long = (_instructions(tmp_path, "", rounds) for rounds in (1000, 3000))
    # Mask, increment in memory (three for the recorder), count, compare, branch.
    assert 5 * 2000 <= long - short <= 9 * 2000


def test_more_instructions_than_a_record_holds(tmp_path):
    text = _LOOP.replace("values[i & 63]++;", "").replace("BODY", '"nop; mov %eax, %eax"')
    trace = record_text(tmp_path, text + "\n", "200000")
    total = int(trace.events["instructions"].sum(dtype=np.int64))
    assert 0 <= total < 1000  # after the last event of the thread nothing is recorded
    trace = record_text(tmp_path, text.replace("return 0", "return values[0]++"), "200000")
    total = int(trace.events["instructions"].sum(dtype=np.int64))
    assert 200_000 * 3 <= total <= 200_000 * 7
