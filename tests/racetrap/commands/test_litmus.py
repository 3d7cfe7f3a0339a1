"""`racetrap litmus`: exit status, what people read, JSON."""

import json

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
    result = racetrap("litmus", _MP, bad)
    assert result.exit_code == ExitStatus.BAD_INPUT
    assert result.stdout == ""
    assert f"{bad}:4: " in result.stderr
    assert racetrap("litmus", tmp_path / "none").exit_code == ExitStatus.BAD_INPUT
    limited = racetrap("litmus", _SB, "--limit", 1)
    assert limited.exit_code == ExitStatus.BAD_INPUT
    assert "at most 1 candidate executions" in limited.stderr
