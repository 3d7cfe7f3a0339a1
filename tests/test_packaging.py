"""Packages for users: the wheel has all that runs, the source distribution docs and tests too."""

import json
import os
import re
import subprocess
import sys
import tarfile
from functools import cache
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from tests.support import REPOSITORY
from tests.support.campaign import later_but
from tests.support.environments import linked_environment, run_commands, unpacked

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
    return unpacked(tmp_path_factory.mktemp("site"), wheel)


@pytest.mark.campaign
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


@pytest.fixture(scope="module")
def environment(site, tmp_path_factory):
    """Makes an environment with the wheel and some extras; its Python."""

    @cache
    def make(*extras):
        return linked_environment(tmp_path_factory.mktemp("environment") / "venv", site, extras)

    return make


_EXAMPLES = REPOSITORY / "docs" / "examples"
_TRACE = _EXAMPLES / "block-fence.trace"
_LAUNCH = ("--launch", _EXAMPLES / "handover.toml")
_THREADS = REPOSITORY / "tests" / "support" / "threads" / "small" / "accesses.c"
_DRIVER = REPOSITORY / "sim" / "accelerator" / "programs" / "adc_ring.c"
#: Commands that need no extra, and their exit status.
_LIGHT = {
    ("check", _EXAMPLES / "handover.ptx", *_LAUNCH): 1,
    ("check", _EXAMPLES / "handover.ptx", *_LAUNCH, "--output", "page.html"): 1,
    ("check", _TRACE, "--detector", "hirace"): 1,
    ("check", _EXAMPLES / "unlocked-sum.trace"): 1,
    ("stress", _EXAMPLES / "handover.ptx", *_LAUNCH): 1,
    ("litmus", _EXAMPLES / "litmus" / "Add+Add.litmus"): 0,
    ("trace", "info", _TRACE): 0,
    ("trace", "record", _THREADS, "-o", "threads.trace"): 0,
    ("check", "threads.trace", "--exact"): 0,
    ("trace", "record", "--accelerator", _DRIVER, "-o", "driver.trace", "--", "4"): 0,
    ("check", "driver.trace"): 0,
    ("presets",): 0,
    ("doctor",): 0,
    ("schema", "check"): 0,
    ("fpga", "boards"): 0,
}  # fmt: skip
#: Commands that need an extra, and which.
_HEAVY = {
    ("check", _EXAMPLES / "handover.cu", *_LAUNCH): "cuda",
    ("run", _EXAMPLES / "handover.cu"): "cuda",
    ("simulate", "scord", _TRACE): "hardware",
    ("generate", "scord-tiny"): "hardware",
    ("campaign",): "hardware",
    ("bench",): "hardware",
    ("evaluate", "scord"): "hardware",
    ("sweep", _EXAMPLES / "sweep-scord.toml"): "hardware",
    ("cost", "scord-tiny"): "fpga",
    ("mutants", "scord-tiny"): "fpga",
    ("fpga", "build", "scord-local", "--board", "ulx3s-85f"): "fpga",
    ("fpga", "run", _TRACE, "--port", "/dev/null"): "fpga",
}


def test_wheel_alone_checks_kernels_threads_and_drivers(environment, tmp_path):
    python = environment()
    _expect(python, tmp_path, _LIGHT)
    kernel, alone = run_commands(
        python, tmp_path, ("check", _EXAMPLES / "handover.ptx", *_LAUNCH), ("doctor",)
    )
    assert "handover.cu:12: race: load races with store at " in kernel.stdout
    assert alone.stdout.endswith("\nNothing is missing for checks.\n")
    for extra in ("cluster", "cuda", "docs", "fpga", "hardware"):
        assert f"Extra `{extra}` is not installed (" in alone.stdout


def test_what_is_public_is_imported_without_an_extra(environment, tmp_path):
    subprocess.run([environment(), "-c", "import racetrap.api"], cwd=tmp_path, check=True)


@pytest.mark.parametrize(
    ("extras", "said"),
    [((), "'racetrap[notebook]'"), (("notebook",), "load races with store")],
)
def test_data_frames_take_the_extra_for_notebooks(environment, tmp_path, extras, said):
    code = f"from racetrap import api; print(api.check({str(_TRACE)!r}).to_pandas().to_string())"
    done = subprocess.run(
        [environment(*extras), "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert said in done.stdout + done.stderr, done


def test_preset_is_shown_without_an_extra_but_for_its_state(environment, tmp_path):
    (shown,) = run_commands(environment(), tmp_path, ("presets", "scord", "--json", "scord.json"))
    assert (shown.status, shown.stderr) == (0, "")
    assert (
        "State bits are not shown: `amaranth` was not found: install the extra `hardware` by `"
        in shown.stdout
    )
    document = json.loads((tmp_path / "scord.json").read_text())
    assert "state_bits" not in document
    assert document["layouts"]["entry"]["width"] == 64


def test_command_says_which_extra_it_lacks(environment, wheel, tmp_path):
    python = environment()
    install = f"uv pip install --python {python}"  # it has no pip
    for (words, extra), done in zip(
        _HEAVY.items(), run_commands(python, tmp_path, *_HEAVY), strict=True
    ):
        remedy = f"install the extra `{extra}` by `{install} '{wheel}[{extra}]'`.\n"
        assert (done.status, done.stdout) == (3, ""), words
        assert re.fullmatch(r"racetrap: .* was not found: " + re.escape(remedy), done.stderr), done
    assert not list(tmp_path.iterdir())


#: Commands that an extra is for; those of a board and a cluster end since there is none.
_OF_EXTRAS = {
    "cluster": {("--jobs", "tcp://127.0.0.1:1", "sweep", "small.toml"): 3},
    "cuda": {
        ("check", _EXAMPLES / "handover.cu", *_LAUNCH): 1,
        ("run", REPOSITORY / "sim" / "gpu" / "cuda" / "programs" / "reduction.cu"): 0,
    },
    "docs": {("sweep", "small.toml", "-o", "sweep"): 0},
    "fpga": {("fpga", "selftest", "socket://127.0.0.1:1"): 3},
    "hardware": {("presets", "scord-tiny"): 0, ("sweep", "small.toml", "-o", "sweep"): 0},
}
_SWEEP = """\
name = "small"
preset = "scord-tiny"

[grid]
ratio = [1, 4]

[quality]
workloads = ["concurrency-suite"]
"""


def _expect(python, folder, commands):
    """Commands find all that they need, and end with the status that stands beside each."""
    for (words, status), done in zip(
        commands.items(), run_commands(python, folder, *commands), strict=True
    ):
        assert done.status == status, (words, done)
        assert "was not found" not in done.stderr, (words, done)


# With `hardware` alone, `make test` has the next but one.
@pytest.mark.parametrize("extra", later_but(("cluster", "fpga").__contains__, _OF_EXTRAS))
def test_extra_alone(environment, tmp_path, extra):
    (tmp_path / "small.toml").write_text(_SWEEP)
    _expect(environment(extra), tmp_path, _OF_EXTRAS[extra])
    for page in tmp_path.glob("sweep/*.html"):
        text = page.read_text()
        assert ("<svg" in text) == (extra == "docs")
        left_out = "Plots are left out: `matplotlib` was not found: install the extra `docs` by `"
        assert (left_out in text) == (extra == "hardware")


def test_extras_are_those_of_the_package(environment):
    (about,) = environment().parents[1].glob("lib/python*/site-packages/racetrap-*.dist-info")
    named = PathDistribution(about).metadata.get_all("Provides-Extra")
    assert sorted(named) == sorted([*_OF_EXTRAS, "notebook", "soc", "dev"])


def test_wheel_runs_from_another_folder(environment, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    checked, generated, simulated = run_commands(
        environment("hardware"), folder,
        ("check", _TRACE, "--detector", "scord-tiny", "--json", "-"),
        ("generate", "scord-tiny", "--output", "made", "--json", "-"),
        ("simulate", "scord-tiny", _TRACE, "--json", "-"),
    )  # fmt: skip
    assert json.loads(simulated.stdout)["races"] == json.loads(checked.stdout)["reports"] != []
    files = json.loads(generated.stdout)["files"]
    for file in files.values():
        assert (folder / file).is_file()
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
