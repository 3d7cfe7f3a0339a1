"""Builds of others, recorded with no change to their sources: Debian's source packages.

`python -m tests.foreign_builds` brings each package by apt-get into a temporary
folder, builds it by its own build system with `racetrap cc` and `racetrap c++`, records a run, and
looks for races by the exact detector.  The packages are not kept.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from racetrap.sim.cpu.exact_detector import exact_races
from racetrap.sim.cpu.recorder import record_program
from racetrap.sim.failure import Failure
from racetrap.sim.gnu_tools import run_tool

_CC, _CXX = "{racetrap} cc", "{racetrap} c++"
#: A file to compress: text, then bytes without any order, so that blocks differ.
_INPUT_BYTES = 300_000
_SEED = 6364136223846793005


@dataclass(frozen=True)
class ForeignPackage:
    """A compressor with threads, and how its users build and run it.

    Parameters
    ----------
    name : str
        Name of the source package.
    system : str
        Its build system.
    commands : tuple of tuple of str
        Commands that build it, in its folder; ``{racetrap}`` stands for our command.
    program : str
        What they build.
    arguments : tuple of str
        Arguments with which it compresses a file, whose name follows, to standard output.
    """

    name: str
    system: str
    commands: tuple[tuple[str, ...], ...]
    program: str
    arguments: tuple[str, ...]


PACKAGES = (
    ForeignPackage(
        "pbzip2", "make, C++", (("make", f"CXX={_CXX}"),), "pbzip2", ("-p3", "-b1", "-k", "-c"),
    ),
    ForeignPackage(
        "xz-utils", "configure, automake, libtool",
        (("./configure", "-q", f"CC={_CC}", "--disable-nls", "--disable-shared", "--disable-doc"),
         ("make", "-s")),
        "src/xz/xz", ("-T3", "-1", "--block-size=65536", "-k", "-c"),
    ),
    ForeignPackage(
        "libzstd", "make",
        (("make", "-C", "programs", "zstd", f"CC={_CC}", "HAVE_ZLIB=0", "HAVE_LZMA=0",
          "HAVE_LZ4=0"),),
        "programs/zstd", ("-q", "-1", "-T3", "-B65536", "-k", "-c"),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Build:
    """A package that was built and recorded.

    Parameters
    ----------
    build_seconds, record_seconds : float
        Wall-clock time of its build, and of the recorded run with its merge.
    events, threads : int
        Of the recording.
    races : int
        Pairs of instructions that race.
    is_right : bool
        Whether what it compressed while recorded is, decompressed, the file again.
    """

    build_seconds: float
    record_seconds: float
    events: int
    threads: int
    races: int
    is_right: bool


def fetch(package: str, folder: Path) -> Path:
    """Bring a source package by apt-get, and unpack it; the folder of its sources.

    Raises
    ------
    Failure
        If there is no apt-get, or the package cannot be brought.
    """
    _bring(package, folder=folder)
    return next(path.parent for path in folder.glob("*/debian"))


def fetch_upstream(package: str, folder: Path) -> Path:
    """Bring the archive of the sources that Debian's package is made from.

    Raises
    ------
    Failure
        If there is no apt-get, or the archive cannot be brought.
    """
    _bring("--tar-only", package, folder=folder)
    return next(folder.glob("*.orig.tar.*"))


def _bring(*words: str, folder: Path) -> None:
    """Call `apt-get source`; neither the system's lists of packages nor its settings are
    changed."""
    package = words[-1]
    failure = f"Source package {package} cannot be brought: is there a network"
    targets = run_tool(
        ["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE) $(COMPONENT)",
         "Created-By: Packages", "Origin: Debian"], failure,
    )  # fmt: skip
    apt = folder / "apt"
    for name in ("lists/partial", "parts", "cache/archives/partial"):
        (apt / name).mkdir(parents=True, exist_ok=True)
    lines = sorted(set(targets.splitlines()))
    (apt / "sources.list").write_text("".join(f"deb-src {line}\n" for line in lines))
    places = {
        "Dir::Etc::sourcelist": apt / "sources.list", "Dir::Etc::sourceparts": apt / "parts",
        "Dir::State::lists": apt / "lists", "Dir::Cache": apt / "cache",
    }  # fmt: skip
    options = [word for name, place in places.items() for word in ("-o", f"{name}={place}")]
    # Lists that cannot be brought are only a warning of apt-get's.
    for call in (["-o", "APT::Update::Error-Mode=any", "update"], ["source", *words]):
        run_tool(["apt-get", "-qq", *options, *call], failure, folder=folder)


def build_and_record(package: ForeignPackage, sources: Path) -> Build:
    """Build a package in the folder of its sources, and record it compressing a file.

    Raises
    ------
    Failure
        If it cannot be built, recorded or run.
    """
    racetrap = Path(sys.executable).with_name("racetrap")
    begin = time.perf_counter()
    for command in package.commands:
        words = [word.format(racetrap=racetrap) for word in command]
        run_tool(words, f"Package {package.name} cannot be built", folder=sources)
    built = time.perf_counter()
    given, packed = sources / "racetrap-input", sources / "racetrap-output"
    given.write_bytes(_input())
    with packed.open("w") as output:
        recording = record_program(
            sources / package.program, [*package.arguments, str(given)], output=output
        )
    recorded = time.perf_counter()
    if recording.ending:
        raise Failure(f"Program {package.program} must return 0, but it {recording.ending}")
    trace = recording.trace
    return Build(
        built - begin, recorded - built, len(trace), trace.header.threads,
        len(exact_races(trace)), _unpacked(sources / package.program, packed) == _input(),
    )  # fmt: skip


def _input() -> bytes:
    state, data = _SEED, bytearray()
    while len(data) < _INPUT_BYTES:
        state = state * _SEED + 1442695040888963407 & (1 << 64) - 1
        data += b"a line of text, number %d\n" % (state >> 48) + state.to_bytes(8, "little")
    return bytes(data[:_INPUT_BYTES])


def _unpacked(program: Path, packed: Path) -> bytes:
    """The file that was compressed, by the same program, which is not recorded now."""
    target = packed.with_suffix(".unpacked")
    failure = f"Program {program.name} cannot decompress what it compressed"
    run_tool(
        ["sh", "-c", '"$0" -d -c < "$1" > "$2"', *map(str, (program, packed, target))], failure
    )
    return target.read_bytes()


def main(packages: Sequence[ForeignPackage] = PACKAGES) -> int:
    """Build and record the packages, and print a table; the exit status."""
    wrong = 0
    for package in packages:
        with tempfile.TemporaryDirectory(prefix="racetrap-") as name:
            try:
                found = build_and_record(package, fetch(package.name, Path(name)))
            except Failure as error:
                print(error, file=sys.stderr)
                return 2
        wrong += not found.is_right
        print(
            f"{package.name:10} {package.system:28} built in {found.build_seconds:.0f} s, "
            f"{found.events} events of {found.threads} threads recorded in "
            f"{found.record_seconds:.1f} s, {found.races} races, output "
            f"{'right' if found.is_right else 'WRONG'}",
            flush=True,
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
