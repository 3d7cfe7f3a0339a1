"""Groups list their commands without importing them, and as they are."""

import importlib
import pkgutil

import pytest

import racetrap.commands
from racetrap.cli import cli
from racetrap.commands.shared.lazy_group import LazyGroup

_MODULES = {each.name for each in pkgutil.iter_modules(racetrap.commands.__path__)} - {"shared"}
#: What the front door alone calls.
_UNLISTED = {"record_and_check"}
_GROUPS = [
    name
    for name in sorted(_MODULES)
    if isinstance(importlib.import_module(f"racetrap.commands.{name}").command, LazyGroup)
]


def _group(name):
    return importlib.import_module(f"racetrap.commands.{name}").command


def test_every_module_is_a_command_of_its_name():
    listed = {name.replace("+", "x") for name in cli.lines}
    listed |= {f"{group}_{name}" for group in _GROUPS for name in _group(group).lines}
    assert listed == _MODULES - _UNLISTED


@pytest.mark.parametrize("group", ["", *_GROUPS])
def test_commands_are_loaded_by_name(group):
    commands = _group(group) if group else cli
    for name in commands.list_commands(None):
        command = commands.get_command(None, name)
        assert command.name == name
        assert commands.lines[name].endswith(".")
    assert commands.get_command(None, "nothing") is None


def test_help_of_a_group_imports_no_command(racetrap):
    result = racetrap("fpga", "--help")
    assert result.exit_code == 0
    for name, line in _group("fpga").lines.items():
        assert f"  {name} " in result.output
        assert line in result.output
