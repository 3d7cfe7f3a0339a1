"""The Python interface beside the commands: one result, printed and written as JSON."""

import json

import pytest

from racetrap import api
from tests.support import REPOSITORY
from tests.support.gpu.cuda_programs import needs_compiler

_EXAMPLES = REPOSITORY / "docs" / "examples"
_HANDOVER = str(_EXAMPLES / "handover.ptx")
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


def test_a_wrong_input_is_the_sentence_of_the_command():
    with pytest.raises(ValueError, match=r"Kernel must have a launch file|no\.ptx"):
        api.check("no.ptx")


@needs_compiler
def test_the_output_of_a_program_is_in_the_result(tmp_path):
    source = tmp_path / "hello.cu"
    source.write_text('#include <cstdio>\nint main() { std::puts("hello"); return 3; }\n')
    result = api.run(source)
    assert (result.output, result.status, result.has_findings) == ("hello\n", 3, False)
