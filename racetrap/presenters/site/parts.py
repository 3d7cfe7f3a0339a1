"""Parts of the documentation's pages by the names that the pages give them.

A page of ``docs`` includes one by a block ``{generated} NAME``; nothing of it is kept in a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from racetrap.evaluation.scord.construct_verdicts import verdicts
from racetrap.generators.register_files import register_manual
from racetrap.generators.systems import SYSTEMS
from racetrap.presenters.site.concurrency_suite import run_suite, suite_tables
from racetrap.presenters.site.construct_suite import constructs_table, verdicts_tables
from racetrap.presenters.site.presets import presets_tables
from racetrap.presenters.site.runtime_protocol import protocol_messages
from racetrap.presenters.site.thread_programs import (
    program_chapters,
    programs_table,
    small_programs_table,
)
from racetrap.presenters.site.weak_memory_programs import programs_tables

__all__ = ["PARTS", "RUN_PARTS"]

#: Parts that are read off the sources.
PARTS: Mapping[str, Callable[[], str]] = {
    "constructs": constructs_table,
    "presets": presets_tables,
    "runtime-protocol": protocol_messages,
    "small-thread-programs": small_programs_table,
    "thread-program-chapters": program_chapters,
    "thread-programs": programs_table,
    "weak-memory-programs": programs_tables,
    **{f"registers-{system.name}": partial(register_manual, system) for system in SYSTEMS},
}
#: Parts that a run of a suite gives, each in a quarter of a minute.
RUN_PARTS: Mapping[str, Callable[[], str]] = {
    "concurrency-suite": lambda: suite_tables(run_suite()),
    "construct-verdicts": lambda: verdicts_tables(verdicts()),
}
