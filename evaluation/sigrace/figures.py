"""Figures 7, 8 and 10(b) of one program: false positives, lost windows, message sizes.

Ref: SigRace (ISCA'09) Sections 5.2, 5.3 and 5.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from racetrap.evaluation.sigrace.blocks import make_blocks
from racetrap.evaluation.sigrace.execution import Execution
from racetrap.evaluation.sigrace.false_positives import (
    FalsePositives,
    false_positives,
    false_positives_of,
    paper_configurations,
)
from racetrap.evaluation.sigrace.messages import MessageSizes, message_sizes
from racetrap.evaluation.sigrace.windows import WindowFigures, make_searches, window_figures
from racetrap.golden_model.sigrace.params import Form, SigraceParams

__all__ = [
    "BLOCK_SIZES",
    "CHOSEN",
    "DEPTHS",
    "ONE_HOT",
    "SETS",
    "SYNC",
    "Figures",
    "configuration_params",
    "make_figures",
]

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
    """

    instructions: int
    events: int
    threads: int
    checkpoints: int
    configurations: dict[str, FalsePositives]
    block_sizes: dict[int | str, FalsePositives]
    windows: dict[tuple[int, int], WindowFigures]
    messages: dict[Form, MessageSizes]


def configuration_params(params: SigraceParams) -> dict[str, SigraceParams]:
    """The configurations of Fig. 7(a), and the one-hot option of the chosen one."""
    configurations = paper_configurations(params)
    return configurations | {ONE_HOT: replace(configurations[CHOSEN], one_hot_lsb=True)}


def make_figures(execution: Execution, params: SigraceParams) -> Figures:
    """Figures of a program.

    Blocks are those of form ``hashed``, as in the paper, but for ``SETS`` and the message sizes
    of form ``sets``.

    Parameters
    ----------
    execution : Execution
        The program.
    params : SigraceParams
        Configuration: block size, depth of the queues, size of the instance.
    """
    hashed = replace(params, form=Form.HASHED)
    sets = replace(params, form=Form.SETS)
    configurations = configuration_params(params)
    chosen = {CHOSEN: configurations[CHOSEN]}
    windows: dict[tuple[int, int], WindowFigures] = {}
    sizes: dict[int | str, FalsePositives] = {}
    for size, each, is_sync in _block_params(hashed):
        blocks = make_blocks(execution, each, is_sync)
        searches = make_searches(execution, blocks)
        found = false_positives_of(blocks, searches, chosen, params.history_depth)
        sizes[size] = found[CHOSEN]
        if isinstance(size, int):
            for depth in DEPTHS:
                windows[size, depth] = window_figures(execution, blocks, searches, depth)
    rates = false_positives(execution, configurations, hashed)
    rates[SETS] = false_positives(execution, chosen, sets)[CHOSEN]
    instructions = int(execution.committed[-1])
    return Figures(
        instructions=instructions,
        events=len(execution.trace.events),
        threads=len(execution.threads),
        checkpoints=len(execution.checkpoints),
        configurations=rates,
        block_sizes=sizes,
        windows=windows,
        messages={
            each.form: message_sizes(each, make_blocks(execution, each), instructions)
            for each in (sets, hashed)
        },
    )


def _block_params(params: SigraceParams) -> Iterator[tuple[int | str, SigraceParams, bool]]:
    for size in BLOCK_SIZES:
        yield size, replace(params, block_instructions=size), False
    yield SYNC, params, True
