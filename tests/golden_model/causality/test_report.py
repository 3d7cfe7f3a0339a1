"""Race reports of causality: record and words."""

from dataclasses import replace

import pytest

from racetrap.golden_model.causality.packets import RaceKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.report import RaceReport, race_words
from racetrap.golden_model.events import Scope
from racetrap.golden_model.trace import Trace
from racetrap.verdict.causality.findings import find_races
from tests.support.causality.judged import params_for
from tests.support.oracle.programs import BLOCK, DEVICE, SHARED, Program

MINE, NEAR, FAR = (0, 0), (0, 1), (1, 0)


def reports(program: Program) -> list[RaceReport]:
    trace = program.trace
    return [finding.report for finding in find_races(trace, params_for(trace))[1]]


def weak_data() -> Program:
    program = Program()
    program.weak_store(MINE, 0x40, lanes=0b1000)
    program.weak_load(FAR, 0x40)
    return program


def test_record_is_32_bytes_with_fields_on_byte_boundaries():
    layout = CausalityParams().report_layout
    assert layout.width == 256
    for _, offset, width in layout.flat():
        assert offset % 8 == 0 or width < 8


def test_record_comes_back_and_names_both_accesses():
    (report,) = reports(weak_data())
    assert RaceReport.from_record(report.record()) == report
    assert (report.address, report.block, report.lane, report.kind) == (0x40, 4, 0, 0)
    assert (report.owner_block, report.owner_lane, report.owner_kind) == (0, 3, 1)
    assert report.race_scope == Scope.DEVICE
    assert report.rule == ("missing", "release")


def test_largest_values_fit_in_the_record():
    widths = CausalityParams().report_layout.fields
    values = {name: (1 << widths[name]) - 1 for name in RaceReport.__slots__}
    report = RaceReport(**values)
    assert RaceReport.from_record(report.record()) == report


def test_sentence_names_threads_accesses_and_what_is_missing():
    (report,) = reports(weak_data())
    assert report.sentence() == (
        "missing-release (device scope): weak load of global 0x40 at pc 0x1008 by block 4 warp 0 "
        "lane 0 races with the weak store by block 0 warp 0 lane 3: no release of this scope "
        "follows the earlier access."
    )


def test_sentence_of_a_store_that_races_with_itself_has_one_thread():
    program = Program()
    program.weak_store(MINE, 0x40, lanes=3, values=(5, 6), **SHARED)
    (report,) = reports(program)
    assert report.sentence() == (
        "unequal-store: weak store of shared 0x40 at pc 0x1000 by block 0 warp 0 lane 1: "
        "lanes of one instruction store different values to one address."
    )
    assert report.race_scope == Scope.BLOCK


def test_lane_that_races_with_its_own_warp_is_another():
    program = Program()
    program.branch(MINE, 0b1000)
    program.weak_store(MINE, 0x40, lanes=0b1000)
    program.weak_store(MINE, 0x40, lanes=0b1001)
    trace = program.trace
    header = replace(trace.header, independent_threads=1)
    trace = Trace.from_events(header, list(trace))
    (finding,) = find_races(trace, params_for(trace))[1]
    assert isinstance(finding.report, RaceReport)
    assert (finding.report.lane, finding.report.owner_lane) == (0, 3)
    assert finding.sentence().startswith("Lane 0 of the store")


def test_atomics_and_their_scopes_are_named():
    program = Program()
    program.atomic(MINE, 0x40, scope=BLOCK)
    program.atomic(FAR, 0x40, scope=DEVICE)
    (report,) = reports(program)
    assert "device-scope atomic of global" in report.sentence()
    assert "the block-scope atomic by block 0" in report.sentence()
    assert report.race_scope == Scope.DEVICE


@pytest.mark.parametrize("kind", [kind for kind in RaceKind if kind])
def test_every_kind_has_words(kind):
    words = race_words(kind)
    assert words == "unequal-store" or words.startswith("missing-")
    values = dict.fromkeys(RaceReport.__slots__, 0) | {"race": kind}
    assert words in RaceReport(**values).sentence()
