"""Options of one stimulus given with another: only what stands on the command line counts."""

import click
import pytest
from click.testing import CliRunner

from racetrap.commands.shared.stimuli import check_options, check_reads, check_system
from racetrap.commands.shared.terminal import input_errors
from racetrap.generators.presets import PRESETS
from racetrap.generators.systems import SYSTEMS, system_of


@click.command()
@click.option("--depth", "levels", default=3)
@click.option("--deep", is_flag=True)
@click.option("--seed", default=1)
def _command(levels, deep, seed):
    with input_errors():
        check_options({"levels": ["a sea", "a lake"], "deep": ["a sea"]}, "a river")


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ([], ""),
        (["--seed", "2"], ""),
        (["--depth", "3"], "--depth must come with a sea or a lake"),  # though the default
        (["--deep"], "--deep must come with a sea"),
    ],
)
def test_only_options_given_are_refused(options, refused):
    result = CliRunner().invoke(_command, options)
    said = f"racetrap: Option {refused}, not with a river.\n" if refused else ""
    assert (result.exit_code, result.output) == (2 if refused else 0, said)


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_of_other_detectors_are_refused(preset):
    params = PRESETS[preset].params
    own = system_of(params)
    check_system(params, own.name, "this suite")
    check_reads(params, own.trace)
    for other in SYSTEMS:
        if other is not own:
            with pytest.raises(ValueError, match=f"of {own.name} is not .* take .*{other.name}"):
                check_system(params, other.name, "this suite")
        if other.trace is not own.trace:
            with pytest.raises(ValueError, match=f"of {own.name} does .* take .*{other.name}"):
                check_reads(params, other.trace)
