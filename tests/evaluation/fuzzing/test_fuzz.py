"""Readers and files that may be anything: 2,000 mutated files, and every one that was a finding."""

import json
import random
import shutil
from codecs import BOM_UTF8
from pathlib import Path

import pytest

from racetrap.commands.shared.configuration import read_defaults
from racetrap.evaluation.fuzzing import fuzz
from racetrap.evaluation.fuzzing.fuzz import Finding, batches, keep, outcome, run_batch
from racetrap.evaluation.fuzzing.mutation import mutate
from racetrap.evaluation.fuzzing.readers import READERS, Reader
from racetrap.golden_model.ptx_memory_model.litmus import read_litmus
from racetrap.golden_model.trace import read_trace
from racetrap.sim.accelerator.target_map import TargetMap
from racetrap.sim.gpu.stress.replay_file import read_replay
from racetrap.verdict.baseline import baseline_text, read_baseline
from racetrap.verdict.threads.suppressions import read_suppressions
from tests.support import REPOSITORY
from tests.support.oracle.findings import line_pair

_FINDINGS = Path(__file__).parent / "findings"
_INPUTS = 2000


@pytest.mark.parametrize("name", READERS)
def test_files_of_the_corpus_are_right(name, tmp_path):
    reader = READERS[name]
    for number, data in enumerate(reader.corpus()):
        path = tmp_path / f"{number}{reader.suffix}"
        path.write_bytes(data)
        reader.read(path)


def _read_defaults(path):
    return read_defaults(Path(shutil.copy(path, path.with_name("racetrap.toml"))).parent)


def _files(pattern):
    return lambda: [path.read_bytes() for path in sorted((REPOSITORY / "docs").glob(pattern))]


#: Readers of text that are not under test by mutated files.
_OTHERS = [
    Reader("litmus", ".litmus", _files("examples/litmus/MP*.litmus"), read_litmus),
    Reader(
        "baseline", ".toml",
        lambda: [baseline_text([line_pair("a.cu:1", "a.cu:2")]).encode()], read_baseline,
    ),
    Reader("suppressions", ".txt", lambda: [b"bank.c:*\n"], read_suppressions),
    Reader("defaults", ".toml", lambda: [b"[check]\nall = true\n"], _read_defaults),
    Reader("thesis", ".txt", lambda: [b"cached_read 0x10-0x20\n"], read_trace),
    Reader("map", ".map", lambda: [b" 0x0000000000001000 buffer\n"], TargetMap.read),
    Reader(
        "replay", ".json",
        lambda: [json.dumps({"kernel": "k", "memory": "views", "choices": []}).encode()],
        lambda path: read_replay(str(path), "k"),
    ),
]  # fmt: skip


@pytest.mark.parametrize("reader", [*READERS.values(), *_OTHERS], ids=lambda reader: reader.name)
def test_text_may_begin_with_a_byte_order_mark(reader, tmp_path):
    for number, data in enumerate(reader.corpus()):
        try:
            data.decode()
        except UnicodeDecodeError:  # no text
            continue
        path = tmp_path / f"{number}{reader.suffix}"
        path.write_bytes(data)
        reader.read(path)
        path.write_bytes(BOM_UTF8 + data)
        reader.read(path)


@pytest.mark.parametrize("name", READERS)
def test_mutated_files(name):
    for batch in batches([name], _INPUTS // len(READERS), seed=1):
        assert [finding.problem for finding in run_batch(batch)] == []


@pytest.mark.parametrize("path", sorted(_FINDINGS.glob("*/*")), ids=lambda path: path.name)
def test_findings_of_earlier_campaigns(path):
    assert outcome(READERS[path.parent.name], path) == ""


def _read(path):
    data = path.read_bytes()
    if data == b"hang":
        while True:
            pass
    if data == b"grow":
        return bytearray(1 << 27)
    if data == b"bug":
        raise KeyError("bug")
    if data == b"raw":
        return int("raw")
    raise ValueError("File must be right, not wrong")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"hang", "Reader took longer than"),
        (b"grow", "Reader took more than"),
        (b"bug", "but ended in KeyError: \"'bug'\" at test_fuzz.py:"),
        (b"raw", "Sentence is Python's own: \"invalid literal"),
        (b"wrong", ""),
    ],
)
def test_what_is_a_finding(tmp_path, monkeypatch, data, problem):
    monkeypatch.setattr(fuzz, "SECONDS", 2)
    monkeypatch.setattr(fuzz, "MEMORY_BYTES", 1 << 26)
    monkeypatch.setitem(READERS, "planted", Reader("planted", ".txt", lambda: [data], _read))
    monkeypatch.setattr(fuzz, "mutate", lambda rng, corpus: corpus[0])
    findings = run_batch(batches(["planted"], 1, seed=1)[0])
    assert len(findings) == bool(problem)
    for finding in findings:
        assert problem in finding.problem


def test_batches_share_the_inputs():
    made = batches(["ptx", "launch"], 1001, seed=4)
    assert sum(batch.last - batch.first for batch in made) == 1001
    assert {batch.seed for batch in made} == {4}
    for name, first in (("ptx", 501), ("launch", 500)):
        numbers = [n for b in made if b.reader == name for n in range(b.first, b.last)]
        assert numbers == list(range(first))


def test_a_seed_gives_the_same_files():
    corpus = READERS["sweep"].corpus()
    assert mutate(random.Random(3), corpus) == mutate(random.Random(3), corpus)
    made = {mutate(random.Random(seed), corpus) for seed in range(100)}
    assert len(made) > 90


def test_a_finding_is_kept(tmp_path):
    path = keep(Finding("ptx", 3, "wrong", b"text"), tmp_path)
    assert path.parent == tmp_path / "ptx"
    assert path.suffix == ".ptx"
    assert path.read_bytes() == b"text"
