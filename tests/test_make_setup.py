"""`make setup` and `make vortex`: they say what they do, and what failed and what to do without a
network or with a wrong interpreter."""

import os
import subprocess
import sys

import pytest

from racetrap.sim.cosim.vortex.package import PACKAGE, VERSION
from tests.support import REPOSITORY


@pytest.fixture
def setup(tmp_path):
    """Calls a target for an environment of its own, without a package index."""

    def run(*words, target="setup"):
        environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""}
        return subprocess.run(
            ["make", "-C", REPOSITORY, target, f"VENV={tmp_path}/venv", *words],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip

    return run


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (None, "was not found: install Python 3.11 or newer"),
        ("exit 0", "PYTHON must be a Python interpreter, not "),
        ("exit 1", "PYTHON must be a Python interpreter, not "),
        ("echo 3.9.2", "Python must be 3.11 or newer, not 3.9.2"),
        ('case "$1" in -m) exit 1;; *) echo 3.12.0;; esac', "could not be made"),
    ],
    ids=["missing", "silent", "failing", "old", "without venv"],
)
def test_wrong_python(setup, tmp_path, script, sentence):
    python = tmp_path / "python"
    if script is not None:
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)
    done = setup(f"PYTHON={python}")
    assert done.returncode == 2
    assert sentence in done.stderr
    assert not (tmp_path / "venv").exists()


@pytest.mark.campaign
def test_without_a_network(setup, tmp_path):
    # What failed is tried again.
    for words, extra in (((), "dev"), ((), "dev"), (("EXTRAS=cuda",), "cuda")):
        done = setup(f"PYTHON={sys.executable}", *words)
        assert done.returncode == 2
        assert f"Installing racetrap with its extra {extra} into " in done.stdout
        assert "Packages could not be installed; " in done.stderr
        assert "ERROR: " in done.stderr
        assert not (tmp_path / "venv" / ".ready").exists()
    assert "Making the virtual environment" not in done.stdout


@pytest.mark.parametrize(("words", "extra"), [((), "dev"), (("EXTRAS=cuda",), "cuda")])
def test_what_pip_does_not_find_is_said(setup, tmp_path, words, extra):
    """A stand-in for the environment's Python finds nothing: pip takes seconds for that."""
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho 'ERROR: none' >&2\nexit 1\n")
    python.chmod(0o755)
    done = setup(*words)
    assert done.returncode == 2
    assert f"Installing racetrap with its extra {extra} into " in done.stdout
    assert "ERROR: none\nPackages could not be installed; " in done.stderr
    assert not (tmp_path / "venv" / ".ready").exists()


@pytest.fixture
def ready(tmp_path):
    """Stand-ins for Python and racetrap of an environment that is ready; each notes its words."""
    binaries = tmp_path / "venv" / "bin"
    binaries.mkdir(parents=True)
    (tmp_path / "venv" / ".ready").touch()
    for name in ("python", "racetrap"):
        (binaries / name).write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/called\n')
        (binaries / name).chmod(0o755)
    return binaries


@pytest.mark.usefixtures("ready")
def test_an_extra_is_installed_though_the_environment_is_ready(setup, tmp_path):
    done = setup()
    assert (done.returncode, (tmp_path / "called").exists()) == (0, False)
    assert f"{tmp_path}/venv/bin/activate" in done.stdout
    assert setup("EXTRAS=cuda").returncode == 0
    assert (tmp_path / "called").read_text().split()[:3] == ["-m", "pip", "install"]
    assert (tmp_path / "called").read_text().endswith("--editable .[cuda]\n")
    done = setup(f"PYTHON={sys.executable}")
    assert done.returncode == 2
    assert "remove it first" in done.stderr


def test_vortex_is_installed_without_what_its_package_depends_on(setup, ready, tmp_path):
    python = ready / "python"
    asked = f'[ "$1" != -c ] || exec {sys.executable} "$@"'
    python.write_text(python.read_text().replace("#!/bin/sh\n", f"#!/bin/sh\n{asked}\n"))
    done = setup(target="vortex")
    assert (done.returncode, done.stderr) == (0, "")
    core, compiler, run = (tmp_path / "called").read_text().splitlines()
    assert core.startswith("-m pip install ")
    assert core.endswith(f" --no-deps {PACKAGE}=={VERSION}")
    assert compiler.endswith(" --editable .[soc]")
    assert run.startswith("vortex run ")


def test_without_a_network_vortex_is_skipped_and_says_so(setup, ready, tmp_path):
    (ready / "python").write_text("#!/bin/sh\necho 'ERROR: none' >&2\nexit 1\n")
    done = setup(target="vortex")
    assert done.returncode == 0
    assert "ERROR: none\nVortex is skipped: " in done.stderr
    assert not (tmp_path / "called").exists()
