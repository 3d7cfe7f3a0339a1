"""Races of a GPU's trace between lines of its sources."""

from dataclasses import replace

from racetrap.golden_model.barracuda import Party, Race, RaceClass, RaceKind
from racetrap.golden_model.call_stacks import Frame
from racetrap.golden_model.events import EventKind, Space
from racetrap.golden_model.memory_objects import MemoryObject
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.trace import read_trace
from racetrap.verdict.gpu.fit import region_of
from racetrap.verdict.gpu.line_races import finding_races, oracle_races_by_line
from racetrap.verdict.scord.findings import find_races
from tests.support import REPOSITORY

_TRACE = REPOSITORY / "docs" / "examples" / "block-fence.trace"


def _header(**fields):
    return replace(read_trace(_TRACE).header, **fields)


def test_race_of_the_oracle():
    parties = (Party(0, 1, 1, EventKind.COPY_WRITE, 5), Party(2, 3, 9, EventKind.LOAD, 6))
    race = Race(
        RaceKind.UNORDERED, RaceClass.INTER_LAUNCH, Space.GLOBAL, 0x100, *parties, 4,
        instances=7, block_pairs=2,
    )  # fmt: skip
    frames = {1: Frame(0, "kernel", ""), 2: Frame(1, "add", "a.cu:5")}
    header = _header(locations={1: "a.cu:1"}, columns={1: 3}, frames=frames, stacks={1: 2})
    (found,) = oracle_races_by_line([race], header)
    earlier, later = found.earlier, found.later
    assert (earlier.place, earlier.access, earlier.actor) == ("a.cu:1", "copy write", "")
    assert (later.place, later.access, later.actor) == ("pc 0x9", "load", "thread 3 of block 2")
    assert (earlier.column, earlier.stack) == (3, (frames[2], frames[1]))
    assert (later.column, later.stack) == (0, ())
    assert (found.kind, found.relation) == ("unordered", "inter-launch")
    assert (found.instances, found.block_pairs) == (7, 2)
    assert found.where == "global address 0x100, launch 4"
    assert found.details == {"space": "global", "address": 0x100, "launch": 4}
    assert later.details["event"] == 6


def test_a_race_inside_a_block_is_between_no_blocks():
    parties = (Party(0, 1, 1, EventKind.STORE, 5), Party(0, 3, 9, EventKind.LOAD, 6))
    race = Race(RaceKind.UNORDERED, RaceClass.INTRA_BLOCK, Space.GLOBAL, 0x100, *parties, 4)
    (found,) = oracle_races_by_line([race], _header())
    assert (found.instances, found.block_pairs) == (1, 0)


def test_race_that_the_detector_reports():
    trace = read_trace(_TRACE)
    memory = MemoryObject(0, 0x10000, 64, 4, 0, "flags", "a `__device__` variable", "")
    header = replace(trace.header, locations={0x1000: "a.cu:7"}, objects={0: memory})
    _, findings = find_races(trace, ScordParams(), region_of(trace))
    (found,) = map(finding_races(header, trace.events), findings)
    assert (found.kind, found.relation) == ("missing-device-fence", "device scope")
    assert (found.earlier.access, found.earlier.actor) == ("store", "warp 0 of block 0")
    assert found.earlier.place == "a.cu:7"
    assert found.later.place == "pc 0x1108"
    assert (found.where, found.element, found.memory_object.name) == ("flags[0]", "[0]", "flags")


def test_columns_are_of_the_expression_or_of_one_around_several(tmp_path):
    source = tmp_path / "a.cu"
    source.write_text("__global__ void k(int *in) {\n  in[0] = 1;\n  in[1] = in[2] + in[3];\n}\n")
    parties = (Party(0, 1, 0x40, EventKind.STORE, 5), Party(1, 2, 0x48, EventKind.LOAD, 6))
    race = Race(RaceKind.UNORDERED, RaceClass.INTER_BLOCK, Space.GLOBAL, 0x100, *parties, 0)
    locations = {0x40: f"{source}:2", 0x48: f"{source}:3"}
    header = replace(_header(), locations=locations, columns={0x40: 1, 0x48: 1})
    (found,) = oracle_races_by_line([race], header)
    assert (found.earlier.column, found.earlier.width) == (3, 1)
    assert (found.later.column, found.later.width) == (11, len("in[2] + in[3]"))
