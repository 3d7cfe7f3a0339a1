"""The list of programs and variants is complete and holds to its own rules."""

import pytest

from racetrap.sim.gpu.launch.kernel_files import load_kernels
from racetrap.sim.gpu.suites.weak_memory.launches import LAUNCHES
from racetrap.sim.gpu.suites.weak_memory.programs import NEEDS, PROGRAMS

PACKAGE = "racetrap.sim.gpu.suites.weak_memory"
VARIANTS = [(program, variant) for program in PROGRAMS.values() for variant in program.variants]


def test_every_program_of_the_paper_is_there():
    papers = [program.paper for program in PROGRAMS.values() if program.paper]
    assert papers == [
        "cbe_dot", "ct_octree", "sdk_red", "cub_scan", "kmeans", "streamcluster", "hotspot",
    ]  # fmt: skip
    rows = [(program.paper, variant.table) for program, variant in VARIANTS if variant.table]
    assert sorted(rows) == sorted([
        *(("cbe_dot", row) for row in ("original_2_fence", "1_fence", "no_fence")),
        *(("ct_octree", row) for row in ("original_no_fence", "1_fence")),
        *(("sdk_red", row) for row in ("original_1_fence", "no_fence")),
        *(("cub_scan", row) for row in (
            "original_all_3_fence", "f1_f2_fence", "f1_f3_fence", "f2_f3_fence", "no_fence",
        )),
    ])  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_kernel_is_that_of_a_variant(name):
    program = PROGRAMS[name]
    functions = load_kernels(PACKAGE, name).functions
    kernels = {kernel for kernel, function in functions.items() if function.is_kernel}
    beginnings = [program.kernel(variant) for variant in program.variants]
    assert len(set(beginnings)) == len(beginnings)
    tables = [LAUNCHES[name].tables(each, 2, 32) for each in beginnings]
    launched = {each["kernel"] for table in tables for each in (table, *table.get("next", ()))}
    assert launched == kernels


@pytest.mark.parametrize("name", PROGRAMS)
def test_first_variant_lacks_nothing(name):
    assert not PROGRAMS[name].variants[0].lacks


def test_each_need_is_lacking_alone_somewhere():
    alone = {need for _, variant in VARIANTS if len(variant.lacks) == 1 for need in variant.lacks}
    assert alone >= set(NEEDS)


def test_reasons_are_sentences_of_one_line():
    for program, variant in VARIANTS:
        for text in (variant.reason, variant.oracle):
            assert not text or (text[0].isupper() and text.endswith(".")), (program, variant)
        assert variant.reason
        assert "\n" not in variant.reason + variant.oracle


def test_verdict_of_the_oracle_is_the_statement_unless_there_is_a_reason():
    for _, variant in VARIANTS:
        assert variant.is_racy == (bool(variant.lacks) if not variant.oracle else not variant.lacks)
