"""Every class of finding through every form of output: text, JSON, SARIF, JUnit, page, annotations,
baseline and the object of the Python interface."""

import json
import re
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from racetrap.calls.check import check
from racetrap.calls.results import CheckResult
from racetrap.calls.run import run
from racetrap.golden_model.barracuda import RaceClass, RaceKind
from racetrap.golden_model.events import (
    SHARED_BITS,
    AtomicOp,
    Event,
    EventKind,
    Lane,
    MemoryOrder,
    Space,
)
from racetrap.golden_model.noncoherent.noncoherent import MODES
from racetrap.golden_model.noncoherent.rules import Rule
from racetrap.golden_model.scord import packets
from racetrap.golden_model.scord.report import race_words
from racetrap.golden_model.trace import AnyTrace, NoncoherentTrace, Trace
from racetrap.golden_model.trace.noncoherent.operations import (
    MemorySystem,
    NoncoherentTraceHeader,
)
from racetrap.golden_model.trace.threads.events import ThreadEventKind
from racetrap.sim.accelerator.random_operations import random_operations
from racetrap.sim.gpu.oracle import ORACLE_RULES
from racetrap.verdict.codes import codes as codes_by_name
from tests.support import REPOSITORY
from tests.support.gpu.cuda_programs import needs_compiler
from tests.support.oracle.random_traces import HEADER, RandomRun
from tests.support.sigrace.programs import ThreadProgram
from tests.support.threads.random_traces import random_thread_trace

_EXAMPLES = REPOSITORY / "docs" / "examples"
#: Seeds whose traces have every class of race in a kernel, and barriers not reached by all threads.
_GPU_SEEDS = (0, 6, 7, 9, 10)
#: Kernels that read what a copy of another stream writes, load from outside, and fault; and a
#: status in the end.
_PROGRAM = """
__global__ void add(int *sum, int *next) { *sum += next[0]; }
__global__ void look(int *sum) { sum[1] = sum[1 << 20]; }
__global__ void reach(int *sum) { sum[1 << 20] = 1; }
int main() {
  static int host[64];
  int *sum;
  cudaStream_t one, other;
  cudaStreamCreate(&one); cudaStreamCreate(&other);
  cudaMalloc(&sum, 256);
  add<<<4, 64, 0, one>>>(sum, sum + 1);
  cudaMemcpyAsync(sum, host, 256, cudaMemcpyHostToDevice, other);
  look<<<1, 1, 0, other>>>(sum);
  reach<<<1, 1>>>(sum);
  return 5;
}
"""
#: What a check of a kernel finds besides races, by changes of an example and of its launch file.
_KERNELS = {
    "faults": ("[%rd8], %r5", "[%rd8+4096], %r5", "count = 2", "count = 2"),
    "outside": ("%r5, [%rd1]", "%r5, [%rd1+4096]", "count = 2", "count = 2"),
    "memory": ("membar.cta", "membar.cta", "count = 2", "count = 2"),
    "results": ("membar.cta", "membar.cta", "count = 2", "count = 2\nexpected = [0, 7]"),
}

#: Volatile accesses are no race by the letter of PTX, but a weak memory exposes them.
_WEAK = ("--oracle", "ptx", "--memory", "views", "--budget", "3")


def _gpu(seed: int) -> Trace:
    return RandomRun(Random(seed), 60).trace()


def _between_operations() -> Trace:
    """Kernels and copies, one a stream, each beside each other on the same bytes."""
    accesses = {
        EventKind.STORE: {}, EventKind.LOAD: {},
        EventKind.ATOMIC: {"strong": True, "op": AtomicOp.OTHER},
    }  # fmt: skip
    kinds = (*accesses, EventKind.COPY_READ, EventKind.COPY_WRITE)
    events = []
    for stream, kind in enumerate(2 * kinds):
        pc = 0x1000 + 8 * stream
        if kind not in accesses:
            events.append(Event(kind, pc=pc, lanes=(Lane(0, 0x80, 256),), grid_block=stream))
            continue
        lanes = tuple(Lane(lane, 0x100 + 4 * lane) for lane in range(4))
        events += [
            Event(EventKind.KERNEL_BEGIN, grid_block=stream),
            Event(EventKind.BLOCK_PLACED, warp_count=1, grid_block=3),
            Event(kind, pc=pc, size=4, lanes=lanes, **accesses[kind]),
            Event(EventKind.BLOCK_RETIRED),
            Event(EventKind.KERNEL_END),
        ]
    return Trace.from_events(HEADER, events)


def _of_a_warp() -> Trace:
    """Two lanes, each of which reads what the other stores, without a barrier."""
    stored, loaded = (
        tuple(Lane(lane, 0x100 + 4 * (lane ^ way)) for lane in range(2)) for way in range(2)
    )
    return Trace.from_events(replace(HEADER, independent_threads=1), [
        Event(EventKind.KERNEL_BEGIN),
        Event(EventKind.BLOCK_PLACED, warp_count=1, grid_block=3),
        Event(EventKind.STORE, pc=0x10, size=4, lanes=stored),
        Event(EventKind.LOAD, pc=0x18, size=4, lanes=loaded),
        Event(EventKind.BLOCK_RETIRED),
        Event(EventKind.KERNEL_END),
    ])  # fmt: skip


def _of_a_cluster() -> Trace:
    """A block reads from its shared memory what the other of its cluster stores there."""
    word = (Lane(0, (1 << SHARED_BITS) + 0x10),)
    end = [
        Event(kind, sm=sm, pc=0x20, order=order)
        for kind, order in (
            (EventKind.CLUSTER_ARRIVE, MemoryOrder.RELEASE),
            (EventKind.CLUSTER_WAIT, MemoryOrder.IMPLIED),
        )
        for sm in (0, 1)
    ]
    return Trace.from_events(HEADER, [
        Event(EventKind.KERNEL_BEGIN),
        Event(EventKind.BLOCK_PLACED, warp_count=1, grid_block=0),
        Event(EventKind.BLOCK_PLACED, sm=1, warp_count=1, grid_block=1, size=1),
        Event(EventKind.STORE, pc=0x10, size=4, lanes=word, space=Space.SHARED),
        Event(EventKind.LOAD, sm=1, pc=0x18, size=4, lanes=word, space=Space.SHARED),
        *end,
        Event(EventKind.BLOCK_RETIRED),
        Event(EventKind.BLOCK_RETIRED, sm=1),
        Event(EventKind.KERNEL_END),
    ])  # fmt: skip


def _threads(seed: int) -> AnyTrace:
    return random_thread_trace(seed, events=400, addresses=64)


def _allocated() -> AnyTrace:
    """Races at memory of a known allocation, with and without locks."""
    program = ThreadProgram(2)
    program.add(ThreadEventKind.ALLOCATE, 0, 0x1000, value=64, pc=0x40)
    program.lock(0)
    program.store(0, 0x1000, pc=0x48)
    program.unlock(0)
    program.load(1, 0x1000, pc=0x50)
    return program.trace(locations={0x40: "bank.c:3", 0x48: "bank.c:12", 0x50: "a,b:c%<.c:20"})


def _accelerator(seed: int) -> NoncoherentTrace:
    memory = MemorySystem(line_bytes=4, granule_bytes=2, engines=2, prefetch=bool(seed % 2))
    operations = random_operations(Random(seed), memory, 200, 24, pcs=3 * (seed > 1))
    return NoncoherentTrace.from_events(NoncoherentTraceHeader(memory=memory), operations)


def _edited(change: str) -> Callable[[Path], list[str]]:
    old, new, old_launch, new_launch = _KERNELS[change]

    def make(folder: Path) -> list[str]:
        files = folder / "handover.ptx", folder / "handover.toml"
        for file, before, after in zip(files, (old, old_launch), (new, new_launch), strict=True):
            text = (_EXAMPLES / file.name).read_text()
            assert before in text
            file.write_text(text.replace(before, after))
        weak = _WEAK * (change == "memory")
        return ["check", str(files[0]), "--launch", str(files[1]), *weak]

    return make


def _stored(trace: Callable[[], AnyTrace], *options: str) -> Callable[[Path], list[str]]:
    def make(folder: Path) -> list[str]:
        trace().write_binary(folder / "st\x1b]<&.trace")
        return ["check", str(folder / "st\x1b]<&.trace"), *options]

    return make


def _program(folder: Path) -> list[str]:
    (folder / "program.cu").write_text(_PROGRAM)
    return ["run", str(folder / "program.cu")]


def _subjects() -> dict[str, Callable[[Path], list[str]]]:
    """By name what makes a subject in a folder, and says the command that finds what it has."""
    found = {}
    # Text shows the first of many findings unless it is told otherwise.
    all_of_them = ("--limit", "10000")
    ways = [(*all_of_them, "--oracle", rule) for rule in ORACLE_RULES]
    ways.append((*all_of_them, "--oracle", "none"))
    for way in ways:
        found[f"operations-{way[-1]}"] = _stored(_between_operations, *way)
        for seed in _GPU_SEEDS:
            found[f"gpu-{seed}-{way[-1]}"] = _stored(lambda seed=seed: _gpu(seed), *way)
    for seed in range(4):
        for mode in MODES:
            found[f"accelerator-{seed}-{mode}"] = _stored(
                lambda seed=seed: _accelerator(seed), f"--set=mode={mode}", "--compare"
            )
    for way in ("--exact", "--set=unbounded=true"):
        found[f"threads-{way}"] = _stored(lambda: _threads(3), *all_of_them, way)
        found[f"allocated-{way}"] = _stored(_allocated, way)
    found["warp"] = _stored(_of_a_warp)
    found["cluster"] = _stored(_of_a_cluster)
    found["hirace"] = _stored(
        lambda: _gpu(0), *all_of_them, "--oracle", "none", "--detector", "hirace-global"
    )
    found |= {change: _edited(change) for change in _KERNELS}
    found["program"] = _program
    return found


@dataclass(frozen=True)
class _Outputs:
    """All that one command has written."""

    exit_code: int
    text: str
    document: dict[str, Any]
    sarif: dict[str, Any]
    junit: ElementTree.Element
    page: str
    baseline: list[dict[str, Any]]
    annotations: list[str]
    #: Of the Python interface: what the command's call has given.
    result: CheckResult
    #: What a quiet run with that baseline prints as annotations.
    annotations_besides: list[str]


_SUBJECTS = _subjects()
_DONE: dict[str, _Outputs] = {}


@pytest.fixture
def outputs(racetrap, tmp_path_factory, monkeypatch):
    """Lets a subject's command write everything, once for all tests."""

    results = []

    def kept(call: Callable[..., CheckResult]) -> Callable[..., CheckResult]:
        def keep(*positional: Any, **keywords: Any) -> CheckResult:
            results.append(call(*positional, **keywords))
            return results[-1]

        return keep

    monkeypatch.setattr("racetrap.commands.check.check", kept(check))
    monkeypatch.setattr("racetrap.commands.run.run", kept(run))

    def write(name: str) -> _Outputs:
        if name not in _DONE:
            folder = tmp_path_factory.mktemp("outputs")
            files = {form: folder / f"out.{form}" for form in ("sarif", "xml", "html", "github")}
            words: list[object] = [word for file in files.values() for word in ("-o", file)]
            known, document = folder / "known.toml", folder / "out.json"
            subject = _SUBJECTS[name](folder)
            done = racetrap(*subject, *words, "-o", known, "--json", document)
            result = results[-1]
            again = racetrap("-q", *subject, "--baseline", known, "--output", "-.github")
            assert done.exit_code in (0, 1), done.stderr
            _DONE[name] = _Outputs(
                done.exit_code, done.stdout, json.loads(document.read_text()),
                json.loads(files["sarif"].read_text()),
                ElementTree.parse(files["xml"]).getroot(), files["html"].read_text(),
                tomllib.loads(known.read_text()).get("race", []),
                files["github"].read_text().splitlines(), result, again.stdout.splitlines(),
            )  # fmt: skip
        return _DONE[name]

    return write


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[needs_compiler] if name == "program" else []) for name in _SUBJECTS],
)
def test_every_form_has_every_finding(outputs, name):
    model = pytest.importorskip("pydantic_sarif.model", reason="needs the extra dev")
    found = outputs(name)
    model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate(found.sarif)
    results = found.sarif["runs"][0]["results"]
    failures = [case.find("failure") for case in found.junit]
    sentences = [
        line for each in failures if each is not None for line in each.get("message").splitlines()
    ]
    races = found.page.count(" data-place=")
    pairs = [each["pairs"] for each in found.document.get("findings", ())]
    assert len(found.baseline) == (sum(map(len, pairs)) or races)
    assert races + found.page.count('<p class="bad">') == len(results)
    assert len(results) == len(found.annotations) == len(sentences)
    assert found.exit_code == bool(results)
    codes = sorted(result["ruleId"] for result in results)
    assert sorted(re.findall(r"title=(RT\d+)::", "\n".join(found.annotations))) == codes
    assert sorted(re.fullmatch(r".* \[(RT\d+)\]", line)[1] for line in sentences) == codes
    assert sorted(re.findall(r"\[(RT\d+)\](?:</h2>|</p>)", found.page)) == codes
    assert [each["code"] for each in found.document.get("findings", ())] == codes_of_races(found)
    rules = found.sarif["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted(set(codes))
    for rule in rules:
        assert codes_by_name()[rule["id"]].title == rule["shortDescription"]["text"]
    assert found.annotations_besides == found.annotations[races:]
    rows = found.result.rows
    assert sorted(row["code"] for row in rows) == codes
    assert found.result._repr_html_().count("<tr>") == min(len(rows), 20) + bool(rows)
    assert len(found.result.races) == races
    assert found.result.has_findings == bool(results)
    assert found.result.to_dict() == found.document
    if "findings" in found.document or "lock_order_inversions" in found.document:
        assert found.text.count(": race: ") == races
    else:
        assert ("Race 0" in found.text) == bool(races)


def test_advice_comes_with_notes_alone_and_does_not_count(racetrap, tmp_path):
    subject = _SUBJECTS["gpu-9-causality"](tmp_path)
    sarif, notices = tmp_path / "out.sarif", tmp_path / "out.github"
    done = racetrap(*subject, "--notes", "-o", sarif, "-o", notices, "--json", tmp_path / "out")
    document = json.loads((tmp_path / "out").read_text())
    results = json.loads(sarif.read_text())["runs"][0]["results"]
    advice = [each for each in results if each["level"] == "note"]
    pairs = [*document["unordered_strong"], *document["ordered_by_lockstep"]]
    assert len(pairs) == len(advice) > 0
    codes = re.findall(r": advice: .* \[(RT\d+)\]$", done.stdout, re.MULTILINE)
    assert sorted(codes) == sorted(each["ruleId"] for each in advice)
    assert notices.read_text().count("::notice ") == len(advice)
    assert {each["level"] for each in document["findings"]} == {"race"}
    assert {each["level"] for each in document["barrier_divergences"]} == {"fault"}
    besides = racetrap(*subject, "-o", sarif)
    assert besides.exit_code == done.exit_code
    results = json.loads(sarif.read_text())["runs"][0]["results"]
    assert {each["level"] for each in results} == {"error"}
    assert ": advice: " not in besides.stdout


def codes_of_races(found):
    """Codes of the races in the text of a GPU's check, in its order."""
    if "findings" not in found.document:
        return []
    return re.findall(r": race: .* \[(RT\d+)\]$", found.text, re.MULTILINE)


def _accesses(findings: Iterable[dict[str, Any]]) -> set[str]:
    return {
        finding[side]["kind"] for finding in findings for side in ("earlier", "later")
        if "kind" in finding.get(side, {})
    }  # fmt: skip


def test_subjects_have_every_code(outputs):
    """Advice, which only notes show, is in the test of that."""
    runs = [outputs(name).sarif["runs"][0] for name in _SUBJECTS]
    found = {result["ruleId"] for each in runs for result in each["results"]}
    assert found == {code for code, each in codes_by_name().items() if each.level != "advice"}


def test_subjects_have_every_class_of_finding(outputs):
    others = ("program", "hirace")
    documents = [outputs(name).document for name in _SUBJECTS if name not in others]
    gpu = [each for each in documents if "unordered_strong" in each]
    bugs = [finding for each in gpu for finding in each["findings"]]
    findings = [pair for bug in bugs for pair in bug["pairs"]]
    kinds = {kind for finding in findings for kind in finding["kinds"]}
    assert kinds == {kind.value for kind in RaceKind} - {RaceKind.UNORDERED_STRONG.value}
    classes = {each for finding in findings for each in finding["classes"]}
    assert classes == {each.value for each in RaceClass}
    assert _accesses(findings) == {"load", "store", "atomic", "copy_read", "copy_write"}
    assert {finding["space"] for finding in findings} == {each.name.lower() for each in Space}
    for key in (
        "unordered_strong", "ordered_by_lockstep", "barrier_divergences", "reports", "faults",
        "outside", "results", "exposed_besides",
    ):  # fmt: skip
        assert any(each.get(key) for each in gpu), key
    reports = [race for each in documents if "unique" in each for race in each["races"]]
    wanted = {race_words(kind) for kind in packets.RaceKind if kind}
    assert {race["kind"] for race in reports} == wanted
    accelerator = [race for each in documents if "mode" in each for race in each["races"]]
    assert {race["rule"] for race in accelerator} == {rule.value for rule in Rule}
    assert {race["false_sharing"] for race in accelerator} == {True, False}
    exact = [each for each in documents if "lock_order_inversions" in each]
    assert {bool(each["lock_order_inversions"]) for each in exact} == {True, False}
    assert {bool(race["allocation"]) for each in exact for race in each["races"]} == {True, False}
    assert [race for each in documents if "environment" in each for race in each["races"]]
