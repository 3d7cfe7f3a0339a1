"""Figures 7 to 10 of one program but 10(a): false positives, lost windows and lines, message sizes,
logs.

Ref: SigRace (ISCA'09) Sections 5.2 to 5.5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from racetrap.evaluation.sigrace.caches import LineCounts, count_lines
from racetrap.evaluation.sigrace.measured import (
    FalsePositives,
    MeasuredRun,
    MessageSizes,
    WindowFigures,
    measured_run,
)
from racetrap.golden_model.sigrace.params import ORGANISATIONS, PARTITIONS, Form, SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

#: The configuration that the paper chooses.
CHOSEN = "B2_S2"
#: The same with one bit for each value of the lower portion, and with blocks of form ``sets``,
#: which may end early.
ONE_HOT, SETS = f"{CHOSEN}, one-hot LSB", f"{CHOSEN}, form sets"
#: Committed instructions of a block; SYNC: blocks end at synchronisations only.
BLOCK_SIZES = (1000, 2000, 4000, 8000, 16000)
SYNC = "sync"
#: Entries of a BlockHistoryQueue.
DEPTHS = (4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Figures:
    """One program's part of the figures.

    Parameters
    ----------
    instructions, events, threads, checkpoints : int
        The execution: committed instructions, events, threads, checkpoints after its start.
    configurations : dict of str to FalsePositives
        Fig. 7(a): the 18 configurations, ``ONE_HOT`` and ``SETS``.
    block_sizes : dict of int or str to FalsePositives
        Fig. 7(b): by block size, ``SYNC`` the last.
    windows : dict of (int, int) to WindowFigures
        Fig. 8, by block size and entries of a queue.
    messages : dict of str to MessageSizes
        Fig. 10(b), by form.
    lines : LineCounts
        Fig. 9, 10(c) and 10(d).
    """

    instructions: int
    events: int
    threads: int
    checkpoints: int
    configurations: dict[str, FalsePositives]
    block_sizes: dict[int | str, FalsePositives]
    windows: dict[tuple[int, int], WindowFigures]
    messages: dict[Form, MessageSizes]
    lines: LineCounts


def configuration_params(params: SigraceParams) -> dict[str, SigraceParams]:
    """The 18 configurations B1_S1 to B3_S6 of Fig. 7(a), and the one-hot option of the chosen one.

    Else they are as ``params``; all of form hashed.
    """
    configurations = {
        f"B{partition}_S{organisation}": replace(
            params, form=Form.HASHED, lsb_bits=lsb_bits, filters=filters, filter_bits=filter_bits,
            one_hot_lsb=False,
        )
        for partition, lsb_bits in PARTITIONS.items()
        for organisation, (filters, filter_bits) in ORGANISATIONS.items()
    }  # fmt: skip
    return configurations | {ONE_HOT: replace(configurations[CHOSEN], one_hot_lsb=True)}


def make_figures(trace: ThreadTrace, params: SigraceParams) -> Figures:
    """Figures of a program.

    Blocks are those of form ``hashed``, as in the paper, but for ``SETS`` and the message sizes
    of form ``sets``.

    Parameters
    ----------
    trace : ThreadTrace
        The program.
    params : SigraceParams
        Configuration: block size, depth of the queues, size of the instance.
    """

    @cache
    def run(params: SigraceParams, sync_only: bool = False) -> MeasuredRun:
        return measured_run(Sigrace(params), trace, sync_only)

    configurations = configuration_params(params)
    chosen = configurations[CHOSEN]
    rated = configurations | {SETS: replace(chosen, form=Form.SETS)}
    sized = {size: replace(chosen, block_instructions=size) for size in BLOCK_SIZES}
    sizes: dict[int | str, FalsePositives] = {
        size: run(each).false_positives for size, each in sized.items()
    }
    whole = run(params)
    return Figures(
        instructions=whole.instructions,
        events=len(trace),
        threads=trace.header.threads,
        checkpoints=whole.checkpoints,
        configurations={name: run(each).false_positives for name, each in rated.items()},
        block_sizes=sizes | {SYNC: run(chosen, sync_only=True).false_positives},
        windows={
            (size, depth): run(replace(each, history_depth=depth)).windows
            for size, each in sized.items()
            for depth in DEPTHS
        },
        messages={form: run(replace(params, form=form)).messages for form in Form},
        lines=count_lines(trace, params),
    )
