"""Cures of the racy kernels of suites, which take minutes: a campaign."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from racetrap.sim.gpu.cuda.context import RunSettings
from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
from racetrap.sim.gpu.cuda.program_run import run_program
from racetrap.sim.gpu.cuda.runtime_library import runtime_library
from racetrap.sim.gpu.cuda.toolkit import compile_program
from racetrap.sim.gpu.editing.edits import diff
from racetrap.sim.gpu.launch.nvrtc import ARCHITECTURE, has_nvrtc
from racetrap.sim.gpu.suites import weak_memory
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
from racetrap.sim.gpu.suites.micro.program import VARIABLES
from racetrap.sim.gpu.suites.weak_memory.launches import launch_of as weak_launch
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS as WEAK_PROGRAMS
from racetrap.verdict.gpu.cure.cures import FindingCures
from racetrap.verdict.gpu.cure.programs import program_sources
from racetrap.verdict.gpu.trace_check import TraceCheck
from tests.cuda_verdicts import PROGRAMS as RACY_PROGRAMS
from tests.support import REPOSITORY
from tests.support.gpu.constructs import cases
from tests.support.gpu.cure_sources import launch_of, sources_of
from tests.support.gpu.cures.programs import FOLDER, PROGRAMS
from tests.support.gpu.micro_sources import micro_source

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.skipif(not has_nvrtc(), reason="needs the compiler of the extra cuda"),
]
_CONSTRUCTS = Path(cases.__file__).parent
_PAIRS = [pair for pairs in cases.GROUPS.values() for pair in pairs]
_RUNS = range(4)
_WEAK_FOLDER = Path(weak_memory.__file__).parent
_WEAK = [
    (program, variant) for program in WEAK_PROGRAMS.values() for variant in program.variants
    if variant.is_racy and variant.name in (
        ("no_f1", "no_f2", "no_f3", "no_acquire_tile", "no_acquire_grid")
        if program.name == "scan" else ("no_acquire", "no_fence")
    )
]  # fmt: skip
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
#: Micro-benchmarks that race by the exact analysis.
_RACY_MICRO = 23


def cures_of(sources, runs=_RUNS):
    """Findings of sources in some runs, with their cures."""
    check = TraceCheck()
    with sources.compiled(()) as program:
        traces = [program.run(number)[0] for number in runs]
    for trace in filter(None, traces):
        check.add(trace)
    found = FindingCures(check, sources)
    words = [words for finding in found.findings for words in finding.cure.words]
    print(f"{sources.trials} trials: {'; '.join(words)}")
    return found


def uncured(found):
    """Reasons why findings have no cure."""
    return [finding.cure.reason for finding in found.findings if not finding.cure.edits]


@pytest.mark.parametrize("pair", _PAIRS, ids=[pair.racy for pair in _PAIRS])
def test_racy_construct_is_cured_or_known_not_to_be(pair):
    name = f"{pair.source}.cu"
    texts = {path.name: path.read_bytes() for path in _CONSTRUCTS.glob("*.cuh")}
    texts[name] = (_CONSTRUCTS / name).read_bytes()
    number = re.search(r"_sm(\d+)$", pair.source)
    architecture = f"compute_{number[1]}" if number else ARCHITECTURE
    launch = launch_of(pair.racy, list(pair.grid), list(pair.block), data=1024, sync=64)
    found = cures_of(sources_of(name, texts, launch, architecture))
    assert found.findings, "the kernel must race"
    assert bool(uncured(found)) == (pair.racy in _UNCURED), uncured(found)


def test_every_racy_micro_benchmark_is_cured():
    """They are tables of instructions: here as CUDA."""
    found = {}
    for program in MICRO_BENCHMARKS.values():
        launch = launch_of(
            "k", program.blocks, 32 * program.warps_per_block, **dict.fromkeys(VARIABLES, 1)
        )
        texts = {"k.cu": micro_source(program).encode()}
        found[program.name] = cures_of(sources_of("k.cu", texts, launch), range(8))
    racy = {name: uncured(each) for name, each in found.items() if each.findings}
    assert (len(racy), set(map(tuple, racy.values()))) == (_RACY_MICRO, {()}), racy


@pytest.mark.parametrize("case", _WEAK, ids=[f"{case[0].name}-{case[1].name}" for case in _WEAK])
def test_program_for_weak_memory_is_cured(case):
    program, variant = case
    texts = {
        name: (_WEAK_FOLDER / name).read_bytes() for name in (f"{program.name}.cu", "common.cuh")
    }
    found = cures_of(sources_of(f"{program.name}.cu", texts, weak_launch(program, variant)))
    assert found.findings, "the variant must race"
    assert uncured(found) == []


def test_page_states_these_numbers():
    page = (REPOSITORY / "docs" / "cuda-programs.md").read_text("utf-8")
    _, _, table = page.partition("| programs | racy | cured |\n|---|---|---|\n")
    rows = [row.strip("|").split("|") for row in table.partition("\n\n")[0].splitlines()]
    forms = sum(not reason for reason in _RACY_FORMS.values())
    assert [(int(racy), int(cured)) for _, racy, cured in rows] == [
        (len(_PAIRS), len(_PAIRS) - len(_UNCURED)), (len(_LACKING), len(_LACKING)),
        (_RACY_MICRO, _RACY_MICRO), (len(_WEAK), len(_WEAK)), (len(_RACY_FORMS), forms),
    ]  # fmt: skip


def settings(number):
    return RunSettings(
        scheduler="random" if number else "round-robin", seed=number, independent_threads=True,
        output=2, stall_limit=50_000,
    )  # fmt: skip


def checked(program, runs, *, is_right=False):
    """Check of some runs of a program."""
    check = TraceCheck()
    for number in runs:
        run = run_program([str(program)], settings(number))
        check.add(run.trace)
        assert not is_right or (run.status, run.problems) == (0, ())
    return check


@pytest.mark.parametrize("name", _RACY_FORMS)
def test_racy_form_of_a_program_is_cured_or_known_not_to_be(name, tmp_path):
    options, target = CompilerOptions(("-DRACY",)), tmp_path / name
    compile_program([RACY_PROGRAMS[name]], target, runtime_library(), options)
    sources = program_sources([RACY_PROGRAMS[name]], [str(target)], options, settings)
    found = FindingCures(checked(target, range(2)), sources)
    assert found.findings, "the program must race"
    assert bool(uncured(found)) == bool(_RACY_FORMS[name]), uncured(found)


@pytest.mark.parametrize("program", _LACKING, ids=[program.name for program in _LACKING])
def test_program_is_cured_by_a_patch_that_git_takes(program, tmp_path):
    folder = tmp_path / program.folder
    shutil.copytree(FOLDER / program.folder, folder)
    source = folder / f"{program.name}.cu"
    target = tmp_path / program.name
    compile_program([source], target, runtime_library(), CompilerOptions())
    sources = program_sources([source], [str(target)], CompilerOptions(), settings)
    found = FindingCures(checked(target, _RUNS), sources)
    assert uncured(found) == []
    edits = found.together()
    print("; ".join(edit.words for edit in edits if edit.words))
    text = diff(sources.texts, edits, {name: name for name in sources.texts})
    subprocess.run(["git", "apply"], input=text, text=True, cwd=folder, check=True)
    compile_program([source], target, runtime_library(), CompilerOptions())
    check = checked(target, range(200, 205), is_right=True)
    assert not check.has_findings
