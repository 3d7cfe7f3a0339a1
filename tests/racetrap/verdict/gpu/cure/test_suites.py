"""Cures of the racy kernels of suites, which take minutes: a campaign."""

import shutil
import subprocess

import pytest

from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
from racetrap.sim.gpu.cuda.program_run import run_program
from racetrap.sim.gpu.cuda.runtime_library import runtime_library
from racetrap.sim.gpu.cuda.toolkit import compile_program
from racetrap.sim.gpu.editing.edits import diff
from racetrap.sim.gpu.launch.nvrtc import has_nvrtc
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
from racetrap.verdict.gpu.cure.cures import FindingCures
from racetrap.verdict.gpu.trace_check import TraceCheck
from tests.cuda_verdicts import PROGRAMS as RACY_PROGRAMS
from tests.support import REPOSITORY
from tests.support.gpu.constructs import cases
from tests.support.gpu.cure_sources import (
    MICRO_RUNS,
    RUNS,
    WEAK_CASES,
    compiled_sources,
    construct_sources,
    cures_of,
    micro_sources,
    program_settings,
    uncured,
    weak_sources,
)
from tests.support.gpu.cures.programs import FOLDER, PROGRAMS

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.skipif(not has_nvrtc(), reason="needs the compiler of the extra cuda"),
]
_PAIRS = [pair for pairs in cases.GROUPS.values() for pair in pairs]
_LACKING = [program for programs in PROGRAMS.values() for program in programs if program.text]

#: Constructs that no edit cures, and why.
_UNCURED = {
    "two_locks": "each block takes a lock of its own: all must take the same one",
    "reader_uncounted": "the reader must count itself in and out, as a lock of readers and writers",
    "arrive_no_sync": "the consumer must wait at the producer's barrier: bar.sync 1, 64",
    "sync_of_each_warp": "both warps must wait at one barrier of 64 threads, not at two of 32",
    "two_numbers": "the consumer must wait at barrier 3, where the producer arrives, not at 4",
    "reader_beside_the_barrier": "the third warp must wait, too: a barrier of 96 threads",
    "pairs_other_words": "the pairs exchange words: they need one barrier of 128 threads",
    "short_plain": "16 bits have no atomic addition: a loop of atomicCAS is needed",
    "half_mask_other_half": "both halves of the warp must wait together: a mask in a macro",
    "tile_of_8": "lanes of two tiles exchange words: tiles of 16, an argument in a macro",
    "tile_of_4": "lanes of several tiles exchange words: tiles of 32, an argument in a macro",
    "grid_block_sync": "blocks exchange words: this_grid().sync() and a cooperative launch",
}


#: Racy forms of whole programs that have been tried: why no edit cures them; empty if one does.
_RACY_FORMS = {
    "breadth_first_search": "",
    "histogram": "",
    "jacobi": "blocks must wait for each other, by a barrier of the grid in another launch",
    "n_body": "blocks read what others write: the result needs a buffer of its own",
    "merge_sort": "blocks must wait for each other, by another launch",
    "producer_consumer": "the host must order two operations",
    "reduction": "",
    "scan": "",
    "scor_convolution_1d": "",
    "transpose": "",
}
#: Variants whose races the runs that try edits do not show: first all warps wait for the lock.
_UNSEEN = [case for case in WEAK_CASES if case[0].name == "double_checked"]
#: Micro-benchmarks that race by the exact analysis.
_RACY_MICRO = 23


@pytest.mark.parametrize("pair", _PAIRS, ids=[pair.racy for pair in _PAIRS])
def test_racy_construct_is_cured_or_known_not_to_be(pair):
    found = cures_of(construct_sources(pair))
    assert found.findings, "the kernel must race"
    assert bool(uncured(found)) == (pair.racy in _UNCURED), uncured(found)


def test_every_racy_micro_benchmark_is_cured():
    """They are tables of instructions: here as CUDA."""
    found = {}
    for program in MICRO_BENCHMARKS.values():
        found[program.name] = cures_of(micro_sources(program), MICRO_RUNS)
    racy = {name: uncured(each) for name, each in found.items() if each.findings}
    assert (len(racy), set(map(tuple, racy.values()))) == (_RACY_MICRO, {()}), racy


@pytest.mark.parametrize(
    "case", WEAK_CASES, ids=[f"{case[0].name}-{case[1].name}" for case in WEAK_CASES]
)
def test_program_for_weak_memory_is_cured(case):
    found = cures_of(weak_sources(*case))
    assert bool(found.findings) == (case not in _UNSEEN)
    assert uncured(found) == []


def test_page_states_these_numbers():
    page = (REPOSITORY / "docs" / "cuda-programs.md").read_text("utf-8")
    _, _, table = page.partition("| programs | racy | cured |\n|---|---|---|\n")
    rows = [row.strip("|").split("|") for row in table.partition("\n\n")[0].splitlines()]
    forms = sum(not reason for reason in _RACY_FORMS.values())
    assert [(int(racy), int(cured)) for _, racy, cured in rows] == [
        (len(_PAIRS), len(_PAIRS) - len(_UNCURED)), (len(_LACKING), len(_LACKING)),
        (_RACY_MICRO, _RACY_MICRO), (len(WEAK_CASES), len(WEAK_CASES) - len(_UNSEEN)),
        (len(_RACY_FORMS), forms),
    ]  # fmt: skip


def checked(program, runs, *, is_right=False):
    """Check of some runs of a program."""
    check = TraceCheck()
    for number in runs:
        run = run_program([str(program)], program_settings(number))
        check.add(run.trace)
        assert not is_right or (run.status, run.problems) == (0, ())
    return check


@pytest.mark.parametrize("name", _RACY_FORMS)
def test_racy_form_of_a_program_is_cured_or_known_not_to_be(name, tmp_path):
    options, target = CompilerOptions(("-DRACY",)), tmp_path / name
    sources = compiled_sources(RACY_PROGRAMS[name], target, options)
    found = FindingCures(checked(target, range(2)), sources)
    assert found.findings, "the program must race"
    assert bool(uncured(found)) == bool(_RACY_FORMS[name]), uncured(found)


@pytest.mark.parametrize("program", _LACKING, ids=[program.name for program in _LACKING])
def test_program_is_cured_by_a_patch_that_git_takes(program, tmp_path):
    folder = tmp_path / program.folder
    shutil.copytree(FOLDER / program.folder, folder)
    source = folder / f"{program.name}.cu"
    target = tmp_path / program.name
    sources = compiled_sources(source, target)
    found = FindingCures(checked(target, RUNS), sources)
    assert uncured(found) == []
    edits = found.together()
    print("; ".join(edit.words for edit in edits if edit.words))
    text = diff(sources.texts, edits, {name: name for name in sources.texts})
    subprocess.run(["git", "apply"], input=text, text=True, cwd=folder, check=True)
    compile_program([source], target, runtime_library(), CompilerOptions())
    check = checked(target, range(200, 205), is_right=True)
    assert not check.has_findings
