"""`racetrap litmus`: exit status, what people read, JSON."""

import json
from time import monotonic

import pytest

from racetrap.commands.shared.terminal import ExitStatus
from tests.support import REPOSITORY

_FOLDER = REPOSITORY / "docs" / "examples" / "litmus"
_MP, _SB = (str(_FOLDER / f"{name}.litmus") for name in ("MP+rel+acq", "SB+relaxed"))


def test_one_file_has_states_races_and_a_picture(racetrap):
    result = racetrap("litmus", _MP)
    assert result.exit_code == 0
    for part in (
        "MP+rel+acq: ~exists (1:%r0 = 1 /\\ 1:%r1 = 0) is forbidden, as expected",
        "1:%r0=1 1:%r1=1",
        "Data race: P0 st.weak.u32 [x], 1 and P1 ld.weak.u32 %r1, [x]",
        "a: st.weak.u32 [x], 1",
        "sw  b -> c  (synchronizes with)",
        "Causality (Section 8.10.6): a precedes d",
    ):
        assert part in result.stdout


def test_several_files_have_a_line_each(racetrap):
    result = racetrap("litmus", _MP, _SB)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["MP+rel+acq", "SB+relaxed"]
    assert lines[2] == "2 tests, 0 not as expected."


def test_a_test_that_is_not_as_expected(racetrap, tmp_path):
    path = tmp_path / "wrong.litmus"
    path.write_text((_FOLDER / "SB+relaxed.litmus").read_text().replace("exists", "~exists"))
    result = racetrap("litmus", _MP, path)
    assert result.exit_code == 1
    assert "SB+relaxed: ~exists (0:%r0 = 0 /\\ 1:%r0 = 0) is allowed, NOT as expected" in (
        result.stdout
    )
    assert "A consistent execution that meets the condition" in result.stdout
    assert "2 tests, 1 not as expected." in result.stdout


def test_json(racetrap):
    result = racetrap("litmus", _MP, _SB, "--json", "-")
    tests = json.loads(result.stdout)["tests"]
    assert [(test["outcome"], test["as_expected"]) for test in tests] == [
        ("forbidden", True), ("allowed", True),
    ]  # fmt: skip
    mp, sb = tests
    assert mp["races"][0]["first"] == {"thread": 0, "instruction": 0, "text": "st.weak.u32 [x], 1"}
    assert mp["witness"]["contradictions"][0]["axiom"] == "Causality"
    assert sb["witness"]["contradictions"] == []
    weak = [state["values"] for state in sb["states"] if not state["sequentially_consistent"]]
    assert weak == [{"0:%r0": 0, "1:%r0": 0}]


def test_an_operational_model_beside_the_axioms(racetrap):
    result = racetrap("litmus", _MP, _SB, "--memory", "views")
    assert result.exit_code == 0
    assert "  views: 3 final states in " in result.stdout
    assert "1 of 1 weak ones" in result.stdout
    result = racetrap("litmus", _SB, "--memory", "sequential", "--json", "-")
    runs = json.loads(result.stdout)["tests"][0]["runs"]
    assert runs["not_shown"] == [{"0:%r0": 0, "1:%r0": 0}]
    assert runs["forbidden"] == []
    assert (runs["weak"], runs["weak_shown"]) == (1, 0)


def test_bad_input(racetrap, tmp_path):
    bad = tmp_path / "bad.litmus"
    bad.write_text("PTX bad\n{ x = 0; }\n P0@cta 0 ;\n ld.odd %r, [x] ;\nexists (x = 0)\n")
    missing = tmp_path / "missing.litmus"
    result = racetrap("litmus", bad, missing, _MP, "--json", tmp_path / "o.json")
    assert result.exit_code == ExitStatus.BAD_INPUT
    assert result.stdout.startswith("MP+rel+acq: ")
    assert "3 tests, 0 not as expected, 2 not judged." in result.stdout
    first, second = result.stderr.splitlines()
    assert first.startswith(f"racetrap: {bad}:4: ")
    assert second == f"racetrap: {missing}: No such file or directory."
    document = json.loads((tmp_path / "o.json").read_text())
    assert [test["test"] for test in document["tests"]] == ["MP+rel+acq"]
    assert [refused["file"] for refused in document["refused"]] == [str(bad), str(missing)]
    assert racetrap("litmus", tmp_path / "none").exit_code == ExitStatus.BAD_INPUT
    limited = racetrap("litmus", _SB, "--budget", 1)
    assert limited.exit_code == ExitStatus.BAD_INPUT
    assert "more than 1 candidate executions" in limited.stderr


_COLUMNS = """PTX many
{{ {} }}
 {} ;
 {} ;
exists ({})
"""


@pytest.mark.parametrize(
    ("instruction", "place", "is_judged"),
    [
        ("st.relaxed.gpu.u32 [x{0}], 1", "{0}", True),
        ("ld.relaxed.gpu.u32 %r, [x0]", "{0}", True),
        ("bar.sync 0", "0", True),
        # In any order, so that there are too many executions.
        ("st.relaxed.gpu.u32 [x0], {0}", "{0}", False),
        ("atom.add.u32 %r, [x0], 1", "{0}", False),
    ],
)
def test_a_hundred_threads_are_judged_or_refused_at_once(
    racetrap, tmp_path, instruction, place, is_judged
):
    numbers = range(100)
    path = tmp_path / "many.litmus"
    path.write_text(_COLUMNS.format(
        " ".join(f"x{n} = 0;" for n in numbers),
        " | ".join(f"P{n}@cta {place.format(n)}" for n in numbers),
        " | ".join(instruction.format(n) for n in numbers), "true",
    ))  # fmt: skip
    begin = monotonic()
    result = racetrap("litmus", path)
    assert monotonic() - begin < 60
    assert result.exit_code == (0 if is_judged else ExitStatus.BAD_INPUT)
    assert is_judged or "more than 100000 candidate executions" in result.stderr


_CHAIN = ["ld.weak.u32 %r, [x]", *3000 * ["add.u32 %r, %r, 1"], "st.weak.u32 [x], %r"]


@pytest.mark.parametrize(
    ("instructions", "condition", "sentence"),
    [
        (_CHAIN, "x = 1", "Litmus test is too long"),
        (_CHAIN[:1], 5000 * "~" + "(x = 1)", "Condition is nested too deeply"),
    ],
    ids=["values", "condition"],
)
def test_what_is_nested_too_deeply_is_refused(
    racetrap, tmp_path, instructions, condition, sentence
):
    path = tmp_path / "deep.litmus"
    path.write_text(_COLUMNS.format("x = 0;", "P0@cta 0", " ;\n".join(instructions), condition))
    result = racetrap("litmus", path)
    assert result.exit_code == ExitStatus.BAD_INPUT
    assert sentence in result.stderr


def test_a_barrier_that_never_completes_may_be_expected(racetrap, tmp_path):
    stuck = (
        "PTX stuck\nEnds=never\n{ x = 0; }\n P0@cta 0 | P1@cta 0 ;\n"
        " bar.sync 0, 96 | bar.sync 0, 96 ;\nexists (true)\n"
    )
    path = tmp_path / "stuck.litmus"
    for text, status, sentence in (
        (stuck, 0, "stuck: every execution waits at a barrier for ever, as expected"),
        (stuck.replace("96", "64"), 1, "stuck: some execution ends, NOT as expected"),
        (stuck.replace("Ends=never\n", ""), 2, "has no execution that ends"),
        (stuck.replace("never", "soon"), 2, ":2: Ends must be never, not soon."),
    ):
        path.write_text(text)
        result = racetrap("litmus", path, "--json", tmp_path / "o.json", "--memory", "views")
        assert (result.exit_code, sentence in result.output) == (status, True), result.output
    path.write_text(stuck)
    racetrap("litmus", path, "--json", tmp_path / "o.json")
    (test,) = json.loads((tmp_path / "o.json").read_text())["tests"]
    assert (test["outcome"], test["as_expected"], test["states"]) == ("never ends", True, [])
