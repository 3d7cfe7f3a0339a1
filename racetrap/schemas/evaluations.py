"""JSON of `racetrap evaluate`."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypedDict

from racetrap.evaluation.scord.tables import FalseRow, RaceRow
from racetrap.evaluation.sigrace.races import Injected
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.schemas.values import LongWorkDocument, Tables


class UniqueRaceDocument(TypedDict):
    """A race of the oracle by its instructions."""

    first: Annotated[int, "program counter"]
    second: Annotated[int, "program counter"]
    kind: Annotated[str, "its kind"]


class BuildDocument(TypedDict):
    """A build."""

    workload: Annotated[str, "row of the tables"]
    program: Annotated[str, "its program"]
    switches: Annotated[list[str], "race switches that are on"]
    racy: Annotated[bool, "whether it has a race"]
    runs: Annotated[int, "schedules"]
    present: Annotated[int, "runs with a race by the oracle"]
    reported: Annotated[dict[str, int], "runs with a report, by detector"]
    hardware_runs: Annotated[int, "runs on the hardware"]
    hardware_reported: Annotated[int, "hardware runs with a report"]
    hardware_agrees: Annotated[bool, "whether the hardware's reports equal the golden model's"]
    oracle: Annotated[list[UniqueRaceDocument], "unique races of the oracle"]
    unique: Annotated[
        dict[str, list[tuple[int, int]]], "unique races by detector: program counter and kind"
    ]
    unconfirmed: Annotated[list[tuple[int, int]], "reports without a race of the oracle"]
    outcomes: Annotated[
        dict[str, int], "number of the oracle's races by the outcome of the detector with caching"
    ]
    places: Annotated[dict[str, str], "line of the source by program counter"]


#: How Tables VI and VII were made; keys as they are printed.
ScordFacts = TypedDict(
    "ScordFacts",
    {
        "size": Annotated[str, "`--size`"],
        "seed": Annotated[int, "`--seed`"],
        "schedules": Annotated[int, "`--schedules`"],
        "oracle": Annotated[str, "rule of the oracle"],
        "bytes monitored at least": Annotated[int, "smallest size of the region"],
        "schedules on hardware": Annotated[int, "schedules that also ran on the hardware"],
        "runs": Annotated[int, "all runs"],
        "events": Annotated[int, "events of all runs"],
        "accesses on hardware": Annotated[int, "accesses compared"],
        "seconds": Annotated[int, "wall-clock time"],
        "racetrap": Annotated[str, "version"],
        "verilator": Annotated[str, "version"],
    },
)


class EvaluateScord(LongWorkDocument, ScordFacts):
    """`racetrap evaluate scord`."""

    races: Annotated[list[RaceRow], "Table VI"]
    false_races: Annotated[list[FalseRow], "Table VII"]
    builds: Annotated[list[BuildDocument], "each build"]
    problems: Annotated[
        list[str],
        "failures: a difference of hardware and golden model, or a race in a race-free build",
    ]


class EvaluateAdvice(LongWorkDocument):
    """`racetrap evaluate advice`."""

    runs: Annotated[int, "random runs of each question; as many systematic ones"]
    seed: Annotated[int, "`--seed`"]
    verdicts: Annotated[dict[str, int], "number of programs by verdict"]
    tables: Annotated[
        Tables,
        "`advice`: of each variant or race switch what it `lacks`, the `author's lines`, the "
        "`advice` and what would do `instead`, the `verdict` (`as the author`, `elsewhere` with "
        "the lines, `not exposed`, `no fences cure it`, `wrong on sequentially consistent memory`; "
        "of right variants `the added fence alone`, and what is named `besides`), `seconds`",
    ]


class EvaluateBarracuda(LongWorkDocument):
    """`racetrap evaluate barracuda`."""

    schedules: Annotated[int, "schedules of each benchmark"]
    seed: Annotated[int, "`--seed`"]
    benchmarks: Annotated[int, "benchmarks that ran"]
    small_kernels: Annotated[int, "small kernels judged"]
    tables: Annotated[
        Tables,
        "`table-1` (columns that begin with `paper` are the paper's), `figure-9` (percent of the "
        "static instructions), `figure-10` (checked over untraced run, and MiB), `small-kernels` "
        "(witnesses and verdicts), `wrong-verdicts` (kernels on which a rule errs)",
    ]
    problems: Annotated[
        list[str],
        "failures, in sentences: programs that fail their own check, kernels whose witnesses "
        "differ from their truth",
    ]


class EvaluateBugaroo(LongWorkDocument):
    """`racetrap evaluate bugaroo`."""

    schedules: Annotated[int, "schedules of each variant"]
    variants: Annotated[int, "number of variants"]
    runs: Annotated[int, "stressed runs of each variant by each memory"]
    seed: Annotated[int, "seed of the first run"]
    tables: Annotated[
        Tables,
        "`programs` (what each variant lacks, its wrong and racy runs, distinct races), "
        "`table-2`, `table-3`, `table-4`, `figures-3-4` (columns that begin with `paper` are the "
        "paper's)",
    ]
    problems: Annotated[
        list[str],
        "failures, in sentences: results that differ from NumPy's, verdicts that differ from the "
        "suite's",
    ]


class EvaluateOverhead(LongWorkDocument):
    """`racetrap evaluate overhead`."""

    size: Annotated[str, "`--size`"]
    seed: Annotated[int, "seed of the inputs"]
    programs: Annotated[int, "applications that ran"]
    events: Annotated[int, "events of their traces"]
    cpu_seconds: Annotated[float, "CPU time of all work on the applications, without Vortex"]
    events_per_second: Annotated[int, "events replayed in a second of CPU time"]
    not_on_vortex: Annotated[str | None, "with `--rtl`: what must be installed to run Vortex"]
    tables: Annotated[
        Tables,
        "`execution` (cycles for each without detection, executed in simulated time), `figure-8` "
        "(likewise, replayed), `figure-9` (DRAM accesses likewise), "
        "`figure-10` (shares of the costs in percent), `figure-11` (cycles by memory), "
        "`sensitivity` (cycles by what is changed), `models` (cycles with ScoRD's hardware), "
        "`schedules` (least and most of those of `execution`), "
        "`hardware` (likewise, with the hardware itself; no rows without `--rtl`), "
        "`vortex` and `vortex-cycles` (on the Verilog of Vortex and by the model; likewise), "
        "`statements` (the paper's, and whether they hold)",
    ]
    problems: Annotated[
        list[str],
        "failures: a detector without costs that takes time, a model of the hardware that takes "
        "other cycles",
    ]


class EvaluateVortex(LongWorkDocument):
    """`racetrap evaluate vortex`."""

    programs: Annotated[int, "micro-benchmarks that ran"]
    seeds: Annotated[int, "runs of each beside each detector"]
    tables: Annotated[
        Tables,
        "`micro-benchmarks` (runs in which each detector reports a race, and those that are racy "
        "by the exact analysis), `sums` (words missed and reported besides, amounts compared)",
    ]
    problems: Annotated[list[str], "verdicts that are not as expected, in sentences"]


class EvaluatePolicies(LongWorkDocument):
    """`racetrap evaluate policies`."""

    size: Annotated[str, "`--size`"]
    schedules: Annotated[int, "`--schedules`"]
    seed: Annotated[int, "seed of inputs and schedules"]
    builds: Annotated[int, "number of builds that ran"]
    tables: Annotated[Tables, "`policies`: a row for each policy"]


class EvaluateRules(LongWorkDocument):
    """`racetrap evaluate rules`."""

    size: Annotated[str, "`--size`"]
    schedules: Annotated[int, "`--schedules`"]
    seed: Annotated[int, "seed of inputs and schedules"]
    programs: Annotated[int, "programs judged"]
    tables: Annotated[
        Tables,
        "`rules`: programs of each `group`, by what they are `meant` to be, in which each rule "
        "finds a race; `scor-micro-benchmarks`, `scor-applications`, `small-kernels`: different "
        "races of each program by rule, and pairs listed separately",
    ]


class ThreadVerdictDocument(TypedDict):
    """Verdicts on a program with threads."""

    name: Annotated[str, "its name"]
    arguments: Annotated[list[str], "its arguments"]
    events: Annotated[int, "events of its trace"]
    expected: Annotated[bool, "whether it has races"]
    exact: Annotated[list[tuple[str, str]], "pairs of source lines by the exact detector"]
    sanitizer: Annotated[list[tuple[str, str]], "pairs of source lines by ThreadSanitizer"]
    agrees: Annotated[bool, "whether the verdicts agree"]


#: How the figures of SigRace were made; keys as they are printed.
SigraceFacts = TypedDict(
    "SigraceFacts",
    {
        "size": Annotated[str, "`--size`"],
        "seed": Annotated[int, "`--seed`"],
        "runs with injected races": Annotated[
            int, "number of runs from which a synchronisation is left out"
        ],
        "size on hardware": Annotated[str, "`--hardware-size`"],
        "programs": Annotated[int, "programs"],
        "events": Annotated[int, "events of all traces"],
        "instructions": Annotated[int, "instructions of all programs"],
        "steps compared on hardware": Annotated[int, "steps compared"],
        "seconds": Annotated[int, "wall-clock time"],
        "gcc": Annotated[str, "version"],
        "racetrap": Annotated[str, "version"],
        "numpy": Annotated[str, "version"],
        "verilator": Annotated[str, "version"],
        "prediction": Annotated[
            str | None,
            "detector that Figure 9 predicts to find more races, and whether it does; null without "
            "a complete row",
        ],
    },
)


class EvaluateSigrace(LongWorkDocument, SigraceFacts):
    """`racetrap evaluate sigrace`."""

    parameters: Annotated[SigraceParams, "of the configuration"]
    tables: Annotated[
        Tables,
        "`figure-7a`, `figure-7a-programs`, `figure-7b`, `figure-7b-programs`, `figure-8`, "
        "`existing`, `injected`, `outcomes`, `figure-9`, `figure-9a`, `figure-9b`, `figure-9c`, "
        "`figure-9d`, `instructions`, `messages`, `figure-10c`, `figure-10d`, `storage`, "
        "`verdicts`, `hardware`, `pace`: rows with the columns of the printed tables, numbers "
        "unrounded",
    ]
    injected: Annotated[dict[str, list[Injected]], "by program, a record for each run"]
    verdicts: Annotated[
        list[ThreadVerdictDocument], "of each program; a file with a recording has none"
    ]
    problems: Annotated[
        list[str],
        "failures: reports that are not races, verdicts that differ, a difference of hardware and "
        "golden model",
    ]


class CaseDocument(TypedDict):
    """A program with one thing left out, or nothing."""

    program: Annotated[str, "its name"]
    omission: Annotated[str, "the omission; empty if nothing is left out"]
    operations: Annotated[int, "operations of the trace"]
    strict: Annotated[list[str], "rules that mode strict reports"]
    thesis: Annotated[list[str], "rules that mode thesis reports"]
    is_reported: Annotated[bool, "whether mode strict finds a race that counts"]
    racy_bytes: Annotated[int, "bytes that race on the exhaustive machine"]
    is_first_same: Annotated[
        bool, "whether the machine's first racy operation is that of mode strict"
    ]
    timings: Annotated[int, "runs under random timings"]
    wrong: Annotated[int, "runs whose result differs from that without deferral"]
    is_harmful: Annotated[
        bool, "whether the machine or the timings show that the result can be wrong"
    ]
    explanation: Annotated[str, "explanation in words"]


#: How the figures of accelerators were made; keys as they are printed.
NoncoherentFacts = TypedDict(
    "NoncoherentFacts",
    {
        "seed": Annotated[int, "`--seed`"],
        "programs": Annotated[int, "programs"],
        "programs with something left out": Annotated[int, "number of cases with an omission"],
        "timings of each": Annotated[int, "`--schedules`"],
        "random traces": Annotated[int, "`--budget`"],
        "seconds": Annotated[int, "wall-clock time"],
    },
)


class EvaluateNoncoherent(LongWorkDocument, NoncoherentFacts):
    """`racetrap evaluate noncoherent`."""

    tables: Annotated[
        Tables,
        "`published`, `programs`, `figure-5.1`, `random-traces`, `random-differences`, "
        "`fixpoints`, `monitor`, `monitor-cycles`, `live`; only those that were made",
    ]
    cases: Annotated[list[CaseDocument], "each program and what is left out of it"]
    problems: Annotated[list[str], "failures, in sentences"]
