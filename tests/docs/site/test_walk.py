"""Walk through a trace: the golden model's own steps, and what is wrong with a text."""

import pytest

from docs.site.walk import walk
from docs.site.walk_part import PARAMS, SCRIPTS, micro_trace, write_scripts
from racetrap.golden_model.scord.report import race_words
from racetrap.golden_model.trace.container.text import text_file
from racetrap.golden_model.trace.gpu.trace import Trace
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
from racetrap.verdict.scord.detect import detect


@pytest.mark.parametrize("name", MICRO_BENCHMARKS)
def test_races_are_the_detectors(name):
    text = micro_trace(name)
    found = detect(Trace.from_text(text_file(text, "x")), PARAMS)
    said = [moment.verdict for moment in walk(text, PARAMS) if moment.verdict.startswith("Race: ")]
    assert bool(said) == bool(found) == MICRO_BENCHMARKS[name].racy
    for pc, race in found:
        told = [verdict for verdict in said if f"pc {pc:#x} " in verdict]
        assert any(race_words(race) in verdict for verdict in told), (race_words(race), told)


def test_a_step():
    """The read that a fence of the block does not order with the write."""
    text = micro_trace("race_interblock_blkfence_raw")
    moment = next(each for each in walk(text, PARAMS) if each.verdict.startswith("Race: "))
    assert text.split("\n")[moment.line - 1] == moment.text
    assert (moment.row, moment.condition) == ("LOAD_UNFENCED_WRITE", "Table IV (b)")
    assert ("modified", "1", "0") in moment.entry
    assert ("block", "0", "8") in moment.entry


def test_entries_follow_each_other():
    """An entry is before an access what it was after the one ahead."""
    moments = walk(micro_trace("norace_interblock_lock_waw"), PARAMS)
    entries = {}
    for moment in moments:
        if moment.entry:
            address = moment.what.split()[2]
            before = {name: value for name, value, _ in moment.entry}
            assert before == entries.get(address, dict.fromkeys(before, "–"))
            entries[address] = {name: value for name, _, value in moment.entry}
    assert len(entries) == 2


def test_barriers_and_accesses_outside_the_region():
    text = micro_trace("race_interblock_blkfence_raw")
    more = "barrier sm=0 slot=0 pc=0x20\nload sm=0 slot=0 warp=0 pc=0x28 size=4 lanes 0:0x4\n"
    first = next(line for line in text.split("\n") if line.startswith("store "))
    moments = walk(text.replace(first, more + first), PARAMS)
    assert [each.what for each in moments[:2]] == [
        "barrier of slot 0", "load of 0x4 by warp 0 of block 0"
    ]  # fmt: skip
    assert moments[1].row == "UNMONITORED"
    assert moments[1].entry == ()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "store ",
            "stor ",
            r"^Trace, line 10: Unknown event 'stor': did you mean 'store'\? \(rule 6\)$",
        ),
        ("racetrap-trace 2", "x", r"^Trace, line 1: Trace must begin with the line "),
        ("region ", "# ", "^Trace must have a header of system scord with a region$"),
        ("size_log2=14", "size_log2=60", r"^Region size must be "),
    ],
)
def test_a_wrong_text_is_refused(old, new, message):
    text = micro_trace("race_interblock_blkfence_raw")
    assert old in text
    with pytest.raises(ValueError, match=message):
        walk(text.replace(old, new, 1), PARAMS)


def test_the_scripts_have_what_the_page_imports(tmp_path):
    (tmp_path / "_static").mkdir()
    write_scripts(tmp_path)
    assert {path.name for path in (tmp_path / "_static").iterdir()} == set(SCRIPTS)
    text = (tmp_path / "_static" / "golden_model.js").read_text(encoding="utf-8")
    for module in ("docs.site.walk_script", "racetrap.golden_model.scord.detection_logic"):
        assert f'"{module}": [".py", "\\"\\"\\"' in text
    assert '"racetrap.golden_model.trace": [".py", "", [], 1]' in text
    assert "generators" not in text
