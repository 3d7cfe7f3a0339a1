"""The Python interface beside the commands: one result, printed and written as JSON."""

import json
import re
from importlib import import_module
from inspect import signature

import click
import pytest

from racetrap import api
from racetrap.calls.evaluate import EVALUATIONS
from racetrap.fpga.cost.table import Cost
from racetrap.sim.failure import Failure
from tests.support import REPOSITORY
from tests.support.gpu.cuda_programs import needs_compiler
from tests.support.long_work import answer

_EXAMPLES = REPOSITORY / "docs" / "examples"
_HANDOVER = str(_EXAMPLES / "handover.ptx")
_LAUNCH = str(_EXAMPLES / "handover.toml")
_FENCES = str(_EXAMPLES / "block-fence.trace")
_UNLOCKED = str(_EXAMPLES / "unlocked-sum.trace")
_PROGRAM = str(_EXAMPLES / "increments.cu")

#: Command line of each call, and the call.
_CALLS = {
    "check a kernel": (["check", _HANDOVER], lambda: api.check(_HANDOVER)),
    "check by the detector": (
        ["check", _HANDOVER, "--oracle", "none", "--lockstep"],
        lambda: api.check(_HANDOVER, rule=None, lockstep=True),
    ),
    "check exactly": (
        ["check", _UNLOCKED, "--exact"], lambda: api.check(_UNLOCKED, exact=True)
    ),
    "check threads": (["check", _UNLOCKED], lambda: api.check(_UNLOCKED)),
    "stress": (
        ["stress", _HANDOVER, "--launch", _LAUNCH, "--budget", "5", "--advise"],
        lambda: api.stress(_HANDOVER, launch=_LAUNCH, runs=5, advise=True),
    ),
    "stress systematically": (
        ["stress", _HANDOVER, "--launch", _LAUNCH, "--budget", "5", "--deviations", "1"],
        lambda: api.stress(_HANDOVER, launch=_LAUNCH, runs=5, deviations=1),
    ),
    "simulate": (
        ["simulate", "scord-tiny", _FENCES], lambda: api.simulate("scord-tiny", _FENCES)
    ),
    "run": (
        ["run", _PROGRAM, "--schedules", "1"], lambda: api.run(_PROGRAM, schedules=1)
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[needs_compiler] * (name == "run")) for name in _CALLS]
)
def test_a_call_gives_what_the_command_writes_and_prints(name, racetrap, tmp_path, capfd):
    words, call = _CALLS[name]
    printed = racetrap(*words, "--json", tmp_path / "out.json").stdout
    written = json.loads((tmp_path / "out.json").read_text())
    result = call()
    assert isinstance(result, api.Result)
    assert result.to_dict() == written
    assert str(result) == printed
    assert capfd.readouterr().out == ""


def test_cost_gives_what_the_command_writes_and_prints(racetrap, tmp_path, monkeypatch):
    answer(monkeypatch, lambda job: Cost("device"))
    words = ["cost", "scord-tiny", "--family", "ecp5", "--seeds", "0", "--block", "barrier_ids"]
    printed = racetrap(*words, "--json", tmp_path / "out.json").stdout
    written = json.loads((tmp_path / "out.json").read_text())
    result = api.cost("scord-tiny", families=["ecp5"], seeds=0, blocks=["barrier_ids"])
    assert result.to_dict() == written | {"kept": 1}  # by the first call
    assert printed.endswith(str(result))
    assert [row["block"] for row in result.rows] == ["barrier_ids"]


def test_evaluate_gives_what_the_command_writes_and_prints(racetrap, tmp_path, monkeypatch):
    answer(monkeypatch)
    words = ["evaluate", "rules", "lock_blocks_no_first_fence", "--schedules", "1"]
    printed = racetrap(*words, "--json", tmp_path / "out.json").stdout
    written = json.loads((tmp_path / "out.json").read_text())
    result = api.evaluate("rules", "lock_blocks_no_first_fence", schedules=1)
    assert result.to_dict() == written | {"kept": 1}  # by the first call
    assert printed.endswith(str(result))
    assert result.rows == written["tables"][result.tables[0].name]
    assert result._repr_html_().count("<table>") == len(written["tables"])


@pytest.mark.parametrize("name", list(EVALUATIONS))
def test_options_of_an_evaluation_are_those_of_its_command(name):
    """With the same values if they are not given."""
    command = import_module(f"racetrap.commands.evaluate_{name}").command
    names = {each.name for each in command.params if isinstance(each, click.Option)}
    values = command.make_context(name, []).params
    own = import_module(f"racetrap.calls.evaluate_{name}").evaluate
    keywords = signature(own).parameters.values()
    assert {each.name: each.default for each in keywords if each.kind == each.KEYWORD_ONLY} == {
        key: value
        for key, value in values.items()
        if key in names - {"json_file", "output", "jobs"}
    }


#: A command line of each command without an option, besides those of evaluations.
_LINES = {
    "check": (_HANDOVER,), "cost": ("scord-tiny",), "run": (_PROGRAM,),
    "simulate": ("scord-tiny", _FENCES), "stress": (_HANDOVER, "--launch", _LAUNCH),
}  # fmt: skip


class _Called(Exception):
    pass


@pytest.mark.parametrize("name", _LINES)
def test_a_command_gives_the_defaults_of_its_call(name, racetrap, monkeypatch):
    given = {}

    def note(*positional, **keywords):
        given.update(keywords)
        raise _Called

    call = getattr(api, name)
    monkeypatch.setattr(f"racetrap.commands.{name}.{name}", note)
    with pytest.raises(_Called):
        racetrap(name, *_LINES[name])
    # Where to print, and what only a command line has.
    own = {"report", "work", "jobs", "output", "launch", "further"}
    plain = {"compiler": api.CompilerOptions()}
    wanted = {
        each.name: plain.get(each.name, each.default)
        for each in signature(call).parameters.values()
        if each.name not in own and each.default is not each.empty and each.name in given
    }
    assert {key: value for key, value in given.items() if key not in own} == wanted
    left_out = {each.name for each in signature(call).parameters.values()} - given.keys() - own
    assert left_out <= {"arguments", "kernel", "path", "presets", "program", "preset", "stimulus"}


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: api.check(_UNLOCKED, lockstep=True),
            "Argument lockstep is for a kernel, not for a trace of threads: leave it out",
        ),
        (
            lambda: api.check(_UNLOCKED, rule=None),
            "Argument rule is for a trace of a GPU or a kernel, not for a trace of threads: ",
        ),
        (
            lambda: api.check(_FENCES, fail_fast=True),
            "Argument fail_fast is for an exact check of threads, not for a trace of a GPU: ",
        ),
        (
            lambda: api.check(_HANDOVER, compiler=api.CompilerOptions(("-DA",))),
            "Argument -D of compiler is for a kernel in CUDA, not for a kernel in PTX: ",
        ),
        (
            lambda: api.run("program", compiler=api.CompilerOptions(("-std=c++20",))),
            "Argument -std of compiler is for a CUDA source, not for a program that is built: ",
        ),
        (
            lambda: api.stress(
                _HANDOVER, launch=_LAUNCH, compiler=api.CompilerOptions(("--arch", "90"))
            ),
            "Argument -arch of compiler is for a program, not for a kernel in PTX: ",
        ),
        (
            lambda: api.stress(_HANDOVER, ["4"], launch=_LAUNCH),
            "A kernel with a launch file must have no arguments of a program",
        ),
        (
            lambda: api.simulate("scord-tiny", _FENCES, schedules=9),
            "Argument schedules is for ",
        ),
        (
            lambda: api.simulate("scord-tiny", _FENCES, output={".xml": "out.xml"}),
            "Argument output['.xml'] is for ",
        ),
        (
            lambda: api.evaluate("rules", schedule=2),
            "Unknown option of rules 'schedule': did you mean 'schedules'?",
        ),
    ],
)
def test_arguments_for_other_subjects_are_refused(call, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        call()


def test_arguments_of_no_effect_that_are_as_by_default_are_taken():
    plain = api.check(_FENCES, lockstep=False, fail_fast=False, settings=[], runs=100)
    assert plain.to_dict() == api.check(_FENCES).to_dict()


def test_an_unknown_evaluation_or_program_gets_the_nearest():
    with pytest.raises(ValueError, match="did you mean 'scord'"):
        api.evaluate("scrod")
    with pytest.raises(ValueError, match="Unknown program '1DD'"):
        api.evaluate("scord", "1DD")


def test_what_stops_long_work_is_raised(monkeypatch):
    def fail(job):
        raise Failure("Worker is gone")

    answer(monkeypatch, fail)
    with pytest.raises(Failure, match="Worker is gone"):
        api.cost("scord-tiny", families=["ecp5"], seeds=0, blocks=["barrier_ids"])


def test_a_wrong_input_is_the_sentence_of_the_command():
    with pytest.raises(ValueError, match=r"Kernel must have a launch file|no\.ptx"):
        api.check("no.ptx")


@needs_compiler
def test_the_output_of_a_program_is_in_the_result(tmp_path):
    source = tmp_path / "hello.cu"
    source.write_text('#include <cstdio>\nint main() { std::puts("hello"); return 3; }\n')
    result = api.run(source)
    assert (result.output, result.status, result.has_findings) == ("hello\n", 3, False)
