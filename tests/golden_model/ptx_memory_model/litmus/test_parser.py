"""Litmus tests from text, and the rule, line and value of what is refused."""

import pytest

from racetrap.golden_model.ptx_memory_model.litmus import LitmusError, parse_litmus, read_litmus
from racetrap.golden_model.ptx_memory_model.litmus.condition import Quantifier
from racetrap.golden_model.ptx_memory_model.scopes import Place

_TEXT = """\
PTX name
"A reason."
Races=data
{{ x = 0; .u64 z = -1; .shared .u32 s@cta 2,gpu 1 = 3; 1:%r = 5; }}  // as usual
 P0@cta 0 | P1@warp 4,cta 2,cluster 1,gpu 1 ;
 {instruction} | st.weak [x], %r ;
{condition}
"""


def _parse(instruction="ld.weak %r, [x]", condition="exists (0:%r = 5)"):
    return parse_litmus(_TEXT.format(instruction=instruction, condition=condition), "file")


def test_all_parts_are_read():
    test = _parse(condition="forall (0:%r = 5 /\\ (x = 0 \\/ ~(z = 1)))")
    assert (test.name, test.reason, test.races.value) == ("name", "A reason.", "data")
    assert [variable.value for variable in test.variables] == [0, (1 << 64) - 1, 3]
    assert test.registers == {(1, "%r"): 5}
    assert [thread.place for thread in test.threads] == [Place(0, 0, 0, 0), Place(1, 1, 2, 4)]
    assert test.quantifier is Quantifier.FORALL
    assert str(test.condition) == "0:%r = 5 /\\ (x = 0 \\/ ~(z = 1))"


@pytest.mark.parametrize(
    ("instruction", "meaning"),
    [
        ("ld %r, [x]", "ld.weak.u32 %r, [x]"),
        ("ld.volatile.global.u32 %r, [x]", "ld.volatile.global.u32 %r, [x]"),
        ("atom.add %r, [x], 1", "atom.relaxed.gpu.add.u32 %r, [x], 1"),
        ("membar.gl", "fence.sc.gpu"),
        ("fence.gpu", "fence.acq_rel.gpu"),
        ("bar.sync 0", "barrier.cta.sync 0"),
        ("cp.async.wait_all", "cp.async.wait_all"),
    ],
)
def test_short_forms_mean_what_ptx_says(instruction, meaning):
    read = _parse(instruction, "exists (x = 0)").threads[0].instructions[0]
    assert str(read) == meaning


@pytest.mark.parametrize(
    ("instruction", "rule", "value"),
    [
        ("ld.weak %r, [y]", "declared", "y"),
        ("ld.relaxed %r, [x]", "lacks a scope", "ld.relaxed"),
        ("ld.weak.gpu %r, [x]", "cannot have a scope", "ld.weak.gpu"),
        ("fence.sc", "lacks a scope", "fence"),
        ("membar", ".cta, .gl or .sys", "membar"),
        ("nothing %r", "Unknown instruction", "nothing"),
        ("ld.weak %r, [x+4]", "within its variable", "[x+4]"),
        ("ld.weak %r, [z+2]", "aligned", "[z+2]"),
        ("st.weak [x], %q", "written in its thread", "%q"),
        ("ld.global.nc %r, [x]", "generic", "texture"),
        ("cp.async.bulk [x], [x], 4", "generic", "async"),
        ("atom.volatile.add %r, [x], 1", "cannot be .volatile", "atom"),
        ("red.cas [x], 1, 2", "one of", "cas"),
        ("atom.exch.u32 %r, [x], 1", "must be one of .b32, .b64", "not .u32"),
        ("atom.add.b32 %r, [x], 1", "must be one of .u32, .s32, .u64", "not .b32"),
        ("bar.sync 16", "from 0 to 15", "16"),
        ("bar.sync 0, 31", "multiple of 32", "31"),
        ("barrier.arrive 0", "lacks its number of threads", "barrier.arrive"),
        ("ld.shared %r, [x]", "State space", "ld.weak.shared"),
        ("ld.weak %r, [s]", "another CTA than the thread", "variable s"),
        ("ld.weak 7, [x]", "a register", "7"),
        ("st.weak [x], 1, 2", "one too many", "2"),
    ],
)
def test_what_an_instruction_breaks_is_named(instruction, rule, value):
    with pytest.raises(LitmusError) as error:
        _parse(instruction, "exists (x = 0)")
    assert error.value.line == 6
    assert rule in error.value.sentence
    assert value in error.value.sentence


@pytest.mark.parametrize(
    ("old", "new", "line", "rule"),
    [
        ("PTX name", "name", 1, "PTX and a name"),
        ("Races=data", "Races=some", 3, "none or data or mixed-size"),
        ("Races=data", "Kind=data", 3, "Field must be Races"),
        ("x = 0;", "x = 0; x = 1;", 4, "declared twice"),
        (".u64 z", ".f64 z", 4, "Unknown type"),
        (".shared .u32 s@cta 2,gpu 1", ".shared .u32 s", 4, "CTA"),
        ("P0@cta 0", "P1@cta 0", 5, "must be P0"),
        ("P0@cta 0", "P0@warp 0", 5, "without a cta"),
        (" | st.weak [x], %r", "", 6, "2 columns"),
        ("exists (0:%r = 5)", "exists (0:%r = )", 7, "integer"),
        ("exists (0:%r = 5)", "exists (0:%q = 5)", 1, "written registers"),
    ],
)
def test_what_breaks_a_whole_test_is_named(old, new, line, rule):
    text = _TEXT.format(instruction="ld.weak %r, [x]", condition="exists (0:%r = 5)")
    assert old in text
    with pytest.raises(LitmusError) as error:
        parse_litmus(text.replace(old, new), "file")
    assert (error.value.name, error.value.line) == ("file", line)
    assert rule in error.value.sentence


def test_a_file_must_be_text(tmp_path):
    path = tmp_path / "binary.litmus"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LitmusError, match="not UTF-8 text"):
        read_litmus(path)
