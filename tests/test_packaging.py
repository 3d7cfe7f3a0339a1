"""Packages for users: the wheel has all that runs, the source distribution docs and tests too."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.support import REPOSITORY

_ROOMS = (
    "golden_model", "rtl", "generators", "sim", "tb", "fpga", "evaluation", "racetrap",
)  # fmt: skip


def _tracked():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("Packages are built from a git checkout")
    return [Path(name) for name in listed.stdout.split("\0") if name]


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A copy of the checkout without what was built in it, links as links."""
    folder = tmp_path_factory.mktemp("sources")
    for name in _tracked():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (REPOSITORY / name).is_symlink():
            target.symlink_to((REPOSITORY / name).readlink())
        elif (REPOSITORY / name).exists():
            target.write_bytes((REPOSITORY / name).read_bytes())
    return folder


@pytest.fixture(scope="module")
def wheel(sources, tmp_path_factory):
    """The wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps",
         "--no-index", "--wheel-dir", folder, sources],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    """The wheel, as a user's site-packages have it."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_remedy_for_a_missing_extra_works(wheel, tmp_path):
    """Pip takes what is printed where the wheel was installed, and finds the extra in it."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", tmp_path, wheel], check=True)
    code = "from racetrap.sim.tools import install_command; print(install_command('cuda'))"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stdout.strip().endswith(f" '{wheel}[cuda]'")
    options = "--dry-run --no-deps --no-index --ignore-installed"
    taken = subprocess.run(
        ["bash", "-c", f"{done.stdout.strip()} {options}"], capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert "Would install racetrap-" in taken.stdout
    assert "does not provide the extra" not in taken.stderr


def test_wheel_is_complete(site):
    there = {str(path.relative_to(site)) for path in site.rglob("*") if path.is_file()}
    for name in _tracked():
        if name.parts[0] in _ROOMS and not (REPOSITORY / name).is_symlink():
            packaged = name if name.parts[0] == "racetrap" else "racetrap" / name
            assert str(packaged) in there
    assert {path.name for path in site.iterdir() if path.suffix != ".dist-info"} == {"racetrap"}


def _run(site, folder, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, "-m", "racetrap", *arguments, "--json", "-"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def test_wheel_runs_from_another_folder(site, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    trace = str(REPOSITORY / "docs" / "examples" / "block-fence.trace")
    where = subprocess.run(
        [sys.executable, "-c", "import racetrap; print(racetrap.__file__)"],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert Path(where.stdout.strip()).is_relative_to(site)
    checked = _run(site, folder, "check", trace, "--preset", "scord-tiny")
    assert len(checked["findings"]) > 0
    assert not list(folder.iterdir())
    files = _run(site, folder, "generate", "scord-tiny", "--output", "made")["files"]
    for file in files.values():
        assert (folder / file).is_file()
    simulated = _run(site, folder, "simulate", "scord-tiny", trace)
    assert simulated["races"] == checked["reports"]
    assert [path.name for path in folder.iterdir()] == ["made"]


def test_source_distribution_has_docs_and_tests(sources, tmp_path):
    code = f"from setuptools.build_meta import build_sdist; build_sdist({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=sources, check=True, capture_output=True)
    (made,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "README.md", "CHANGELOG.md", "Makefile", "docs/kernels.md", "tests/test_layout.py",
        "racetrap/golden_model/events.py",
    } <= names  # fmt: skip
