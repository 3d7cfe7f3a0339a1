"""The programs by themselves: right with any number of threads, and strict with their arguments."""

import subprocess

import pytest

from racetrap.sim.cpu.programs.catalogue import PROGRAMS, SIZES
from tests.support.threads.small_programs import SMALL_PROGRAMS

_SIZE_NUMBER = 1  # the second word of every command line


@pytest.fixture(scope="module", params=PROGRAMS)
def compiled(request, tmp_path_factory):
    """A program of the catalogue, and its executable as any user would make it."""
    program = PROGRAMS[request.param]
    target = tmp_path_factory.mktemp("programs") / program.name
    compiler = "g++" if program.suffix == ".cpp" else "gcc"
    command = [compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", program.source, "-lm"]
    subprocess.run([*command, "-o", target], check=True)
    return program, target


def _run(target, *arguments):
    return subprocess.run([target, *arguments], capture_output=True, text=True, timeout=60)


def test_result_is_right_and_the_same_with_1_to_8_threads(compiled):
    program, target = compiled
    results = set()
    for threads in range(1, 9):
        done = _run(target, *program.command_line("tiny", threads), "print")
        assert done.returncode == 0, (threads, done.stderr)
        results.add(done.stdout)
    assert len(results) == 1
    assert len(results.pop()) == 17


def test_another_seed_gives_another_result_and_is_right(compiled):
    program, target = compiled
    results = set()
    for seed in ("1", "2", "3"):
        threads, size, _ = program.command_line("tiny", 3)
        done = _run(target, threads, size, seed, "print")
        assert done.returncode == 0, (seed, done.stderr)
        results.add(done.stdout)
    assert len(results) == 3


@pytest.mark.parametrize(
    "arguments",
    [(), ("4", "8"), ("0", "8", "1"), ("65", "8", "1"), ("4", "-1", "1"), ("4", "8x", "1"),
     ("4", "8", "-1"), ("4", "8", "1", "loud"), ("4", "8", "1", "print", "more")],
)  # fmt: skip
def test_wrong_arguments_are_refused(compiled, arguments):
    done = _run(compiled[1], *arguments)
    assert done.returncode == 1
    assert "arguments must be: threads (1 to 64), size, seed" in done.stderr


def test_nothing_is_printed_unless_wanted(compiled):
    program, target = compiled
    done = _run(target, *program.command_line("tiny", 2))
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_catalogue_is_whole():
    assert len(PROGRAMS) >= 11
    for program in PROGRAMS.values():
        assert len(program.scales) == len(SIZES)
        assert program.kind in ("regular", "irregular")
        for path in program.files:
            assert path.is_file()
        text = program.source.read_text(encoding="utf-8")
        assert bool(program.benign_lines) == ("Races: none" not in text), program.name
    assert sum(bool(program.benign_lines) for program in PROGRAMS.values()) >= 3


def test_every_source_is_in_the_catalogue():
    folder = next(iter(PROGRAMS.values())).source.parent
    sources = {path for path in folder.iterdir() if path.suffix in (".c", ".cpp")}
    assert sources == {program.source for program in PROGRAMS.values()}


def test_unknown_size_is_refused():
    with pytest.raises(ValueError, match="Unknown size of fft 'huge': choose tiny"):
        PROGRAMS["fft"].command_line("huge", 4)


def test_small_programs_are_listed_with_both_verdicts():
    for source in {program.source for program in SMALL_PROGRAMS.values()}:
        verdicts = {case.is_racy for case in SMALL_PROGRAMS.values() if case.source == source}
        assert verdicts == {True, False}, source
        listed = source.read_text().count("    CASE(")
        assert listed == sum(case.source == source for case in SMALL_PROGRAMS.values())
