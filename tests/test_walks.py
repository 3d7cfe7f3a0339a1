"""Walks through the rooms of the house: from a trace or a program to its findings.

``docs/architecture.md`` has them as a table, which is held against what really runs.
"""

import json
import subprocess
import sys

from racetrap.commands.shared.input_files import given_name
from racetrap.presenters.line_pairs import number_text
from racetrap.verdict.line_pairs import place_of
from tests.support import REPOSITORY
from tests.support.gpu.cuda_programs import needs_compiler
from tests.support.walks import Step, returns_of, rooms_in_turn, steps_of, walk_text

_GPU_TRACE, _THREADS = "docs/examples/block-fence.trace", "docs/examples/unlocked-sum.trace"
_ACCELERATORS = "tests/golden_model/trace/files/noncoherent.txt"
_PROGRAM = """__global__ void add(int *sum) {
  *sum += 1;
  __syncthreads();
}
int main() {
  int *sum;
  cudaMalloc(&sum, 4);
  add<<<2, 32>>>(sum);
  return cudaDeviceSynchronize();
}
"""
#: By the column of the table that has it.
_WALKS = {
    "GPU": ("check", _GPU_TRACE),
    "threads": ("check", _THREADS),
    "accelerators": ("check", _ACCELERATORS),
}
#: Walks that no column has, and the returns that they may have.
_FURTHER = {
    "GPU with JSON": (("check", _GPU_TRACE, "--json", "-"), 12),
    "GPU by the detector alone": (("check", _GPU_TRACE, "--oracle", "none"), 10),
}
#: Returns that the search for cures may have: it runs the program again, and under weak memory.
_WITH_CURES = 20


def _walks(commands):
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.walks"], input=json.dumps(commands), text=True,
        stdout=subprocess.PIPE, cwd=REPOSITORY, check=True,
    )  # fmt: skip
    return {name: [Step(*each) for each in walk] for name, walk in json.loads(done.stdout).items()}


def _table():
    """Rows of the page by room: when each walk enters it for the first time."""
    text = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = text.partition("## Path of a trace to its report")[2].partition("\n# ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("|")
    ]
    columns = rows[0][2:]
    return {row[0].strip("`"): dict(zip(columns, row[2:], strict=True)) for row in rows[2:]}


def _assert_as_in_the_table(name, walk):
    table = _table()
    rooms = list(dict.fromkeys(rooms_in_turn(walk)))
    entered = {room: str(number) for number, room in enumerate(rooms, start=1)}
    said = {room: cells[name] for room, cells in table.items() if cells[name]}
    assert said == entered | {"returns": str(returns_of(walk))}, f"{name}:\n{walk_text(walk)}"


def test_traces():
    walks = _walks(_WALKS | {name: arguments for name, (arguments, _) in _FURTHER.items()})
    for name in _WALKS:
        _assert_as_in_the_table(name, walks[name])
    for name, (_, most) in _FURTHER.items():
        walk = walks[name]
        assert walk, name
        assert returns_of(walk) <= most, f"{name}:\n{walk_text(walk)}"


@needs_compiler
def test_cuda_program(tmp_path):
    program = tmp_path / "program.cu"
    program.write_text(_PROGRAM)
    run = ("run", str(program))
    walks = _walks({"CUDA program": (*run, "--no-cures"), "with cures": run})
    _assert_as_in_the_table("CUDA program", walks["CUDA program"])
    assert returns_of(walks["with cures"]) <= _WITH_CURES, walk_text(walks["with cures"])


def test_a_call_back_is_seen():
    def walk():
        given_name("a")
        place_of(0, {})
        number_text(1, "race")
        place_of(0, {})

    def walk_back():
        walk()
        sys.modules["racetrap.verdict.source_text"].split_place("a.cu:1: race")

    assert returns_of(steps_of(walk)) == 0
    steps = steps_of(walk_back)
    rooms = ["racetrap/commands", "racetrap/verdict", "racetrap/presenters", "racetrap/verdict"]
    assert (rooms_in_turn(steps), returns_of(steps)) == (rooms, 1)
    assert "racetrap/verdict  <-- a return\n    racetrap/verdict/source_text.py" in walk_text(steps)
