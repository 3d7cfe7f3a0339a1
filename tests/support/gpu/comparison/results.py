"""Results of runs on a GPU: read from the runner's files, kept without their raw text."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tests.support.gpu.cccl.results import is_right

#: What is kept, so that the comparison needs no GPU.
KEPT = Path(__file__).with_name("kept.json")
#: What is run.
PARTS = ("programs", "kernels", "litmus", "drivers")
#: Tools whose runs also show results.
_TOOLS = ("plain", "racecheck", "synccheck", "memcheck", "initcheck")
_RUN = re.compile(r"^@begin\n(.*?)^@end (\S+) (\S+)$", re.MULTILINE | re.DOTALL)
_SUMMARY = re.compile(r"^========= (?:RACECHECK|ERROR) SUMMARY: (\d+) ", re.MULTILINE)
_HAZARD = re.compile(
    r"^========= (Error|Warning|Info): .*?(RAW|WAR|WAW) hazard detected .*\n"
    r"=========\s+(?:Read|Write) Thread .*? in (\S+:\d+)\n"
    r"=========\s+(?:Read|Write) Thread .*? in (\S+:\d+)$",
    re.MULTILINE,
)
_BARRIER = re.compile(r"^========= Barrier error detected\. (.*)\.$", re.MULTILINE)
_STATE = re.compile(r"^@state (\d+) (.*)$", re.MULTILINE)
_OUTCOME = re.compile(r"^@outcome (\d+)((?: \d+)+)$", re.MULTILINE)
#: Longest memory that is kept as it is.
_SHORT = 40

Pair = tuple[str, str]


def digest(memory: str) -> str:
    """A memory's contents; of long ones a hash."""
    return memory if len(memory) <= _SHORT else blake2b(memory.encode(), digest_size=8).hexdigest()


def hazards(text: str) -> dict[Pair, str]:
    """Pairs of lines that racecheck names, each with its gravest level.

    What is cut off or has no lines is left out.
    """
    levels = ("error", "warning", "info")
    found: dict[Pair, str] = {}
    for level, _, *places in _HAZARD.findall(text):
        first, second = sorted(places)
        known = found.get((first, second), "info")
        found[first, second] = min(known, level.lower(), key=levels.index)
    return dict(sorted(found.items()))


def complaints(text: str) -> int | None:
    """Hazards or errors that the sanitizer's last line counts; ``None`` without such a line."""
    found = _SUMMARY.findall(text)
    return int(found[-1]) if found else None


def _outputs(runs: dict[str, Any]) -> dict[str, list[int]]:
    """What a program printed: how often, and in how many of these runs its own check failed."""
    found: dict[str, list[int]] = {}
    for tool in _TOOLS:
        for printed, status, error in _RUN.findall(runs.get(tool, {}).get("text", "")):
            if "@cut " in printed:  # the rest of a line of the sanitizer follows
                printed = printed.rpartition("\n=========")[2].partition("\n")[2]
            lines = [line for line in printed.splitlines() if not line.startswith("=========")]
            text = " ".join(filter(None, lines)) + ("" if error == "cudaSuccess" else f" {error}")
            count = found.setdefault(text, [0, 0])
            count[0] += 1
            count[1] += status != "0" or error != "cudaSuccess"
    return dict(sorted(found.items()))


def _program(runs: dict[str, Any]) -> dict[str, Any]:
    racecheck, synccheck = runs["racecheck"]["text"], runs["synccheck"]["text"]
    return {
        "racecheck": complaints(racecheck), "synccheck": complaints(synccheck),
        "hazards": [[*pair, level] for pair, level in hazards(racecheck).items()],
        "outputs": _outputs(runs),
    }  # fmt: skip


def _kernel(runs: dict[str, Any]) -> dict[str, Any]:
    states: Counter[str] = Counter()
    for tool in ("plain", "racecheck", "synccheck"):
        for count, memory in _STATE.findall(runs.get(tool, {}).get("text", "")):
            states[digest(memory)] += int(count)
    found = {
        "states": dict(states),
        "hazards": [
            [*pair, level] for pair, level in hazards(runs["racecheck"]["text"]).items()
        ],
    }  # fmt: skip
    errors = sorted(set(_BARRIER.findall(runs["synccheck"]["text"])))
    return found | ({"synccheck": errors} if errors else {})


def _litmus(runs: dict[str, Any], columns: list[str]) -> dict[str, Any]:
    outcomes: Counter[str] = Counter()
    for each in runs.values():
        for count, values in _OUTCOME.findall(each["text"]):
            outcomes[values.strip()] += int(count)
    return {"columns": columns, "outcomes": dict(outcomes)}


def _driver(name: str, runs: dict[str, Any]) -> dict[str, Any]:
    """How often a driver printed what, and how often that was NumPy's result, bit for bit."""
    texts = [f"{each['status']} {each['text']}" for each in runs.values()]
    right = sum(each["status"] == 0 and is_right(name, each["text"]) for each in runs.values())
    return {"outputs": dict(Counter(map(digest, texts))), "right": right}


def merged(files: Iterable[Path]) -> dict[str, Any]:
    """Several files of the runner as one; of a run of the same name the later file's counts."""
    whole: dict[str, Any] = {part: {} for part in PARTS}
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") as stream:
            data = json.load(stream)
        whole["machine"] = data["machine"]
        for part in PARTS:
            for name, runs in data.get(part, {}).items():
                whole[part].setdefault(name, {}).update(runs)
    return whole


def measured(raw: dict[str, Any], columns: dict[str, list[str]]) -> dict[str, Any]:
    """What is compared of the merged results, with the columns of each litmus test."""

    def complete(part: str) -> Iterator[tuple[str, Any]]:
        for name, runs in sorted(raw[part].items()):
            if not name.startswith("@") and {"racecheck", "synccheck"} <= runs.keys():
                yield name, runs

    machine = raw["machine"]
    gpu, driver, _ = machine["nvidia-smi"].split(", ")
    return {
        "machine": {
            "gpu": gpu, "driver": driver,
            "compiler": re.findall(r" V([\d.]+)", machine["nvcc"])[0],
            "sanitizer": re.findall(r"Version ([\d.]+)", machine["sanitizer"])[0],
        },
        "programs": {name: _program(runs) for name, runs in complete("programs")},
        "kernels": {name: _kernel(runs) for name, runs in complete("kernels")},
        "litmus": {
            name: _litmus(runs, columns[name]) for name, runs in sorted(raw["litmus"].items())
        },
        "drivers": {name: _driver(name, runs) for name, runs in sorted(raw["drivers"].items())},
    }  # fmt: skip


def kept() -> dict[str, Any]:
    """The results that are kept: ``gpu`` and ``ours``."""
    return json.loads(KEPT.read_text(encoding="utf-8"))


def keep(results: dict[str, Any]) -> None:
    """Keep results, an entry a line."""

    def entries(part: dict[str, Any]) -> str:
        return "{\n" + ",\n".join(
            f"{json.dumps(name)}:{json.dumps(each, separators=(',', ':'))}"
            for name, each in part.items()
        ) + "\n}"  # fmt: skip

    sides = [
        f'"{side}":{{\n' + ",\n".join(f'"{part}":{entries(each)}' for part, each in of.items())
        + "\n}" for side, of in results.items()
    ]  # fmt: skip
    KEPT.write_text("{" + ",\n".join(sides) + "}\n", encoding="utf-8")
