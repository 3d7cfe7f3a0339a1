"""Cures of the racy kernels of two suites, which take minutes: a campaign."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from racetrap.sim.gpu.cuda.context import RunSettings
from racetrap.sim.gpu.cuda.program_run import run_program
from racetrap.sim.gpu.cuda.runtime_library import runtime_library
from racetrap.sim.gpu.cuda.toolkit import CompilerOptions, compile_program
from racetrap.sim.gpu.editing.edits import diff
from racetrap.sim.gpu.launch.nvrtc import ARCHITECTURE, has_nvrtc
from racetrap.verdict.gpu.cure.cure import CureSearch
from racetrap.verdict.gpu.cure.programs import program_sources
from racetrap.verdict.gpu.trace_check import TraceCheck
from tests.support.gpu.constructs import cases
from tests.support.gpu.cure_sources import launch_of, sources_of
from tests.support.gpu.cures.programs import FOLDER, PROGRAMS

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.skipif(not has_nvrtc(), reason="needs the compiler of the extra cuda"),
]
_CONSTRUCTS = Path(cases.__file__).parent
_PAIRS = [pair for pairs in cases.GROUPS.values() for pair in pairs]
_LACKING = [program for programs in PROGRAMS.values() for program in programs if program.text]

#: Constructs that no edit cures, and why.
_UNCURED = {
    "flag_of_two_sizes": "one of two accesses needs another size",
    "relaxed_data_of_two_sizes": "one of two accesses needs another size",
    "two_locks": "each block takes a lock of its own",
    "reader_uncounted": "the reader must count itself in and out",
    "sequence_lock_weak_data": "both accesses must become strong, in two ways",
    "arrive_no_sync": "the consumer must wait at the barrier of the producer, by its number",
    "sync_of_each_warp": "two barriers must become one, of twice as many threads",
    "two_numbers": "two barriers must become one",
    "reader_beside_the_barrier": "a barrier in a macro must be of more threads",
    "pairs_other_words": "a barrier in a macro must be of more threads",
    "freed_before_read": "the order of two statements in a macro",
    "short_plain": "there is no addition of 16 bits as an atomic",
    "half_mask_other_half": "a mask in a macro",
    "branches_by_stores": "nothing says which of two stores is the last",
    "tile_of_8": "the size of a tile, an argument of a template in a macro",
    "tile_of_4": "the size of a tile, an argument of a template in a macro",
    "grid_block_sync": "a barrier of the grid, in a macro, which needs another launch",
}


@pytest.mark.parametrize("pair", _PAIRS, ids=[pair.racy for pair in _PAIRS])
def test_racy_construct_is_cured_or_known_not_to_be(pair):
    name = f"{pair.source}.cu"
    texts = {path.name: path.read_bytes() for path in _CONSTRUCTS.glob("*.cuh")}
    texts[name] = (_CONSTRUCTS / name).read_bytes()
    number = re.search(r"_sm(\d+)$", pair.source)
    architecture = f"compute_{number[1]}" if number else ARCHITECTURE
    launch = launch_of(pair.racy, list(pair.grid), list(pair.block), data=1024, sync=64)
    search = CureSearch(sources_of(name, texts, launch, architecture))
    races = sorted(search.races, key=sorted)
    assert races, "the kernel must race"
    cures = [search.cure([race]) for race in races]
    uncured = [cure.reason for cure in cures if not cure.edits]
    print("; ".join(words for cure in cures for words in cure.words))
    assert bool(uncured) == (pair.racy in _UNCURED), uncured


def settings(number):
    return RunSettings(
        scheduler="random" if number else "round-robin", seed=number, independent_threads=True,
        output=2, stall_limit=50_000,
    )  # fmt: skip


@pytest.mark.parametrize("program", _LACKING, ids=[program.name for program in _LACKING])
def test_program_is_cured_by_a_patch_that_git_takes(program, tmp_path):
    folder = tmp_path / program.folder
    shutil.copytree(FOLDER / program.folder, folder)
    source = folder / f"{program.name}.cu"
    target = tmp_path / program.name
    compile_program([source], target, runtime_library(), CompilerOptions())
    sources = program_sources([source], [str(target)], CompilerOptions(), settings)
    search = CureSearch(sources)
    races = sorted(search.races, key=sorted)
    cures = [search.cure([race]) for race in races]
    cures = [
        cure if cure.edits else search.other_cure([race]) or cure
        for cure, race in zip(cures, races, strict=True)
    ]
    assert [cure.reason for cure in cures if not cure.edits] == []
    edits = list(dict.fromkeys(edit for cure in cures for edit in cure.edits))
    print("; ".join(edit.words for edit in edits if edit.words))
    text = diff(sources.texts, edits, {name: name for name in sources.texts})
    subprocess.run(["git", "apply"], input=text, text=True, cwd=folder, check=True)
    compile_program([source], target, runtime_library(), CompilerOptions())
    check = TraceCheck()
    for number in range(200, 205):
        run = run_program([str(target)], settings(number))
        check.add(run.trace)
        assert (run.status, run.problems) == (0, ())
    assert not check.has_findings
