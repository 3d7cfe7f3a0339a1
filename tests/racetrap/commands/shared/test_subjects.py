"""Subjects of a command: pages of help and refusals from one declaration."""

import click
import pytest
from click.testing import CliRunner

from racetrap.commands.shared.ending import ends
from racetrap.commands.shared.subjects import Subject, SubjectCommand, require_suitable
from racetrap.commands.shared.terminal import input_errors

_SEA = Subject("a sea", ("levels", "deep"), "gpu", (("salt=N", "How much."),))
_LAKE = Subject("a lake", ("levels",), "threads")
_POND = Subject("a pond", ("ducks",))


@click.command("swim", cls=SubjectCommand, subjects=(_SEA, _LAKE, _POND))
@click.option("--depth", "levels", default=3, help="Levels.")
@click.option("--deep", is_flag=True, help="Deep.")
@click.option("--ducks", default=1, help="Ducks.")
@click.option("--seed", default=1, help="Seed.")
@click.option("--water", default="a river")
def _command(levels, deep, ducks, seed, water):
    with ends(), input_errors():
        require_suitable(water)


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ([], ""),
        (["--seed", "2"], ""),
        (["--depth", "3"], "--depth is for a sea or a lake"),  # though the default
        (["--deep"], "--deep is for a sea"),
        (["--ducks", "2"], "--ducks is for a pond"),
        (["--depth", "3", "--water", "a lake"], ""),
    ],
)
def test_only_options_given_are_refused(options, refused):
    result = CliRunner().invoke(_command, options)
    said = f"racetrap: Option {refused}, not for a river: leave it out.\n" if refused else ""
    assert (result.exit_code, result.output) == (2 if refused else 0, said)


def _page(option):
    done = CliRunner().invoke(_command, [option], prog_name="swim")
    assert done.exit_code == 0
    return done.output


def test_each_page_has_its_own_options():
    first = _page("--help")
    for shown in ("--seed", "--ducks", "Options for a pond:", "--help-gpu", "--help-threads"):
        assert shown in first
    assert "Options for several subjects:\n  --depth" in first
    assert "--deep " not in first
    sea = _page("--help-gpu")
    assert "Options for a sea:\n  --depth INTEGER  Levels.\n  --deep" in sea
    assert "salt=N  How much." in sea
    assert "--seed" not in sea
    assert sea.endswith("Options for every subject: swim --help\n")
    lake = _page("--help-threads")
    assert "--depth" in lake
    assert "--deep" not in lake
    assert "salt" not in lake


def test_a_subject_names_options_that_there_are():
    with pytest.raises(TypeError, match="Subjects must name parameters, not waves"):
        SubjectCommand("swim", subjects=[Subject("a sea", ("waves",))])
