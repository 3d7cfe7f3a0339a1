"""Figures in the JSON of the commands that measure."""

import pytest

from docs.site.history.figures import figures_of
from racetrap.verdict.causality import missed as causality
from racetrap.verdict.gpu.oracle import ELSEWHERE, REPORTED
from racetrap.verdict.scord.missed import Cause
from tests.support.pages.measured import BENCH, COST, DETECTION

_SCORD = {
    "size": "tiny", "schedules": 8, "bytes monitored at least": 1 << 20,
    "races": [{"name": "MM"}, {"name": "Total", "builds": 44, "oracle": 44, "base": 43,
                               "cached": 42}],
    "false_races": [{"counts": {"cached": 1, "byte8": 3, "byte16": 4}},
                    {"counts": {"cached": 2, "byte8": 5, "byte16": 6}}],
    "builds": [{"outcomes": {"reported": 7, "tag conflict": 1}}, {"outcomes": {"reported": 2}}],
}  # fmt: skip
_SIGRACE = {
    "size": "tiny", "programs": 2, "runs with injected races": 6,
    "tables": {
        "outcomes": [
            {"program": "a", "races": "existing", "reported": 3, "missed: queue": 1},
            {"program": "b", "races": "existing", "reported": 2, "missed: queue": 0},
        ],
        "injected": [{"program": "a", "not real": 1},
                     {"program": "Total", "racy": 5, "runs found, SigRace": 4, "not real": 1}],
        "existing": [{"program": "a", "not real": 0}],
        "figure-7a": [
            {"configuration": "B2_S2", "regular %": 2.5, "irregular %": None},
            {"configuration": "B1_S1", "regular %": 9.0, "irregular %": 9.0},
        ],
        "policies": [
            {"policy": "blocks", "whole run %": 9.5, "worst %": None, "dynamic": 4},
            {"policy": "Paper"},
        ],
        "pace": [{"program": "a", "scanners": 1, "decompressors": 1, "cycles a message": 50.5,
                  "cycles": 900, "for the RDM": 70},
                 {"program": "a", "scanners": 7, "decompressors": 2, "cycles a message": 20.5,
                  "comparing": 9.5, "decompressing": 8, "none": 3, "cycles": 800,
                  "for the RDM": 30}],
    },
}  # fmt: skip
_CHANGED = {"tables": [{
    "preset": "sigrace", "settings": ["filters=4", "scanners=7"],
    "blocks": [{"block": "rdm", "costs": {"ice40": {
        "synthesis": {"cells": {"SB_LUT4": 50}, "lut": 50, "ff": 20, "block_ram": 0},
        "fmax_mhz": None,
    }}}],
}]}  # fmt: skip
_MONITOR = {"entries": 4, "races": 9, "possible": 5, "imprecise": 2, "lost": 0}
_NONCOHERENT = {
    "seed": 1,
    "tables": {
        "random-traces": [{"mode": "thesis", "traces": 90, "racy": 30, "missed": 4, "added": 5}],
        "monitor": [
            {"program": "a", **_MONITOR}, {"program": "b", **_MONITOR},
            {"program": "random traces", **_MONITOR, "possible": 0, "imprecise": 0},
        ],
        "monitor-cycles": [{"rows": 30, "cycles": 40}, {"rows": 10, "cycles": 40}],
    },
}  # fmt: skip
_BUGAROO = {
    "schedules": 2,
    "tables": {"programs": [
        {"lacks by PTX": "a fence", "racy": 2}, {"lacks by PTX": "a fence", "racy": 0},
        {"lacks by PTX": "nothing", "racy": 0},
    ]},
}  # fmt: skip
_MUTANTS = {
    "preset": "scord-tiny",
    "tables": {"blocks": [{"block": "bank", "mutants": 9, "killed": 7, "equivalent": 1}]},
}
_CAMPAIGN = {"presets": [{
    "preset": "causality-v100-tiles", "cases": 2, "differences": 0, "accesses": 900, "races": 5,
    "cycles": 4000, "accesses_per_cycle": 0.2, "accesses_per_second": 60, "seed": 51,
}]}  # fmt: skip


@pytest.mark.parametrize(
    ("command", "found", "figures"),
    [
        ("mutants scord-tiny", _MUTANTS, [("mutants of scord-tiny, bank: killed", "of 8", 7)]),
        ("campaign causality-v100-tiles --seed 51", _CAMPAIGN, [
            ("campaign of causality-v100-tiles, seed 51: compared without a difference",
             "accesses", 900),
            ("campaign of causality-v100-tiles, seed 51: cases", "cases", 2),
            ("campaign of causality-v100-tiles, seed 51: length", "cycles", 4000),
        ]),
        ("cost scord", COST, [
            ("bank of scord on ecp5: look-up tables", "LUT", 2000),
            ("bank of scord on ecp5: the same with carry chains and LUT RAM", "LUT", 2400),
            ("bank of scord on ecp5: flip-flops", "FF", 900),
            ("bank of scord on ecp5: block RAMs", "RAM", 14),
            ("bank of scord on ecp5: median Fmax", "MHz", 105.5),
        ]),
        ("cost sigrace --set filters=4 --set scanners=7", _CHANGED, [
            ("rdm of sigrace with filters=4, scanners=7, on ice40: look-up tables", "LUT", 50),
            ("rdm of sigrace with filters=4, scanners=7, on ice40: flip-flops", "FF", 20),
        ]),
        ("bench", BENCH, [
            ("co-simulation of scord, plain golden model", "accesses/s", 9e5),
            ("scord: the same trace by cocotb co-simulation", "accesses/s", 50.0),
            ("scord: the same trace by fast co-simulation", "accesses/s", 1500.0),
            ("one bank of scord, streaming", "accesses/cycle", 1.0),
            ("one bank of scord, back to back", "accesses/cycle", 0.99),
            ("four banks of scord", "accesses/cycle", 3.9),
            ("co-simulation of scord-wide, whole lines, hardware", "accesses/s", 3e6),
            ("co-simulation of scord-wide, whole lines, together", "accesses/s", 1e6),
            ("bank of scord, fence lanes 4, SMs 15", "fences/cycle", 3.75),
            ("metadata port of scord-tiny, words a cycle 8, one line", "accesses/cycle", 7.9),
            ("executor, 1024 threads", "instructions/s", 2e6),
            ("executor, fused multiply and add", "s", 0.1),
            ("compiled oracle, race-free RED", "events/s", 8e5),
            ("co-simulation of sigrace, plain golden model", "events/s", 7e4),
            ("RDM of sigrace, longest scan", "comparisons/cycle", 0.5),
            ("RDM of sigrace, blocks of 2000 instructions", "cycles a message", 250.0),
            ("recorder of threads, a.c", "events/s", 6e7),
            ("check of accelerators, mode strict, 4 buffers, 1000 operations", "operations/s", 500),
            ("recorder of accelerators, neighbours", "accesses/s", 3e7),
            ("recorder of accelerators, scattered", "accesses/s", 2e7),
        ]),
        ("evaluate scord --size tiny", _SCORD, [
            ("ScoR suite, size tiny, schedules 8: racy builds found, oracle", "of 44", 44),
            ("ScoR suite, size tiny, schedules 8: racy builds found, an entry a word", "of 44", 43),
            ("ScoR suite, size tiny, schedules 8: racy builds found, cached", "of 44", 42),
            ("ScoR suite, size tiny, schedules 8: false races, cached", "races", 3),
            ("ScoR suite, size tiny, schedules 8: false races, 8 bytes", "races", 8),
            ("ScoR suite, size tiny, schedules 8: false races, 16 bytes", "races", 10),
            *(
                (f"ScoR suite, size tiny, schedules 8: races of the oracle, {cause}", "of 10",
                 {Cause.REPORTED: 9, Cause.TAG_CONFLICT: 1}.get(cause, 0))
                for cause in Cause
            ),
        ]),
        ("evaluate sigrace", _SIGRACE, [
            ("programs with threads, size tiny, 2 programs: races of the oracle, reported",
             "of 6", 5),
            ("programs with threads, size tiny, 2 programs: races of the oracle, missed: queue",
             "of 6", 1),
            ("programs with threads, size tiny, 2 programs, 6 synchronisations left out: "
             "runs found by SigRace", "of 5", 4),
            ("programs with threads, size tiny, 2 programs: false intersections of B2_S2, "
             "regular programs", "%", 2.5),
            ("programs with threads, size tiny, 2 programs: reports that are no race", "races", 1),
            *(("rollbacks of programs with threads, size tiny of 2 programs, " + name, unit, value)
              for name, unit, value in [
                ("blocks: whole run %", "%", 9.5), ("blocks: dynamic", "number", 4),
            ]),
            *((f"programs with threads at their own pace, {name}, a: {of}", "cycles", value)
              for name, of, value in [
                ("cycles a message", "scanners 1, decompressors 1", 50.5),
                ("cycles", "scanners 1, decompressors 1", 900),
                ("for the RDM", "scanners 1, decompressors 1", 70),
                ("cycles a message", "scanners 7, decompressors 2", 20.5),
                ("cycles", "scanners 7, decompressors 2", 800),
                ("for the RDM", "scanners 7, decompressors 2", 30),
                ("parts with 7 scanners", "comparing", 9.5),
                ("parts with 7 scanners", "decompressing", 8),
                ("parts with 7 scanners", "none", 3),
            ]),
        ]),
        ("evaluate noncoherent", _NONCOHERENT, [
            ("random traces of accelerators, seed 1, mode thesis: first race missed", "of 30", 4),
            ("random traces of accelerators, seed 1, mode thesis: first race added", "of 90", 5),
            ("bus monitor, 4 entries, programs: races lost", "of 18", 0),
            ("bus monitor, 4 entries, programs: possible races that are none", "of 10", 4),
            ("bus monitor, 4 entries, random traces: races lost", "of 9", 0),
            ("bus monitor on the programs with accelerators", "rows/cycle", 0.5),
        ]),
        ("detection", DETECTION, [
            ("a, causality: racy programs found", "of 3", 2),
            ("a, causality: race-free programs reported", "of 4", 0),
            ("a, causality: reported pairs that are ordered", "pairs", 1),
            ("a, causality: reported pairs that may conflict", "pairs", 5),
            ("b, causality: racy programs found", "of 2", 2),
            ("b, causality: race-free programs reported", "of 0", 0),
            ("b, causality: reported pairs that are ordered", "pairs", 0),
            ("b, causality: reported pairs that may conflict", "pairs", 5),
            *(
                (f"a, b: races of the oracle, {what} (causality)", "of 9",
                 {REPORTED: 7, causality.Cause.FLAG: 2}.get(what, 0))
                for what in (REPORTED, ELSEWHERE, *causality.Cause)
            ),
        ]),
        ("evaluate bugaroo", _BUGAROO, [
            ("programs of weak memory, schedules 2: variants that lack a fence, "
             "racy by the oracle", "of 2", 1),
            ("programs of weak memory, schedules 2: variants that lack nothing, "
             "racy by the oracle", "of 1", 0),
        ]),
    ],
)  # fmt: skip
def test_figures(command, found, figures):
    assert figures_of(command.split(), found) == figures


def test_another_region_is_another_figure():
    found = {**_SCORD, "bytes monitored at least": 1}
    names = {name for name, _, _ in figures_of(["evaluate", "scord"], found)}
    for name in names:
        assert name.startswith("ScoR suite, size tiny, schedules 8, region at least 1 bytes: ")


@pytest.mark.parametrize(
    ("command", "found"), [("check a", {"findings": []}), ("cost scord", {"tables": []})]
)
def test_json_without_figures_is_refused(command, found):
    with pytest.raises(ValueError, match=r"gives no figure: choose bench or campaign or cost or "):
        figures_of(command.split(), found)
