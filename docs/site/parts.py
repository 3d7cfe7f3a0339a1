"""Parts of the documentation's pages by the names that the pages give them.

A page of ``docs`` includes one by a block ``{generated} NAME``; nothing of it is kept in a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial

from docs.site.beside_a_gpu import PAGE_TABLES, page_table
from docs.site.block_diagrams import diagram_of
from docs.site.codes import codes_table
from docs.site.commands import commands_reference
from docs.site.concurrency_suite import run_suite, suite_tables
from docs.site.construct_suite import (
    constructs_table,
    detector_sentence,
    verdicts_tables,
)
from docs.site.decision_tables import decision_table
from docs.site.first_race import first_race
from docs.site.front_end import fields_table
from docs.site.json_documents import json_reference
from docs.site.limits import LIMITS, first_limits, limits_table
from docs.site.methods import METHODS, method_table
from docs.site.mutant_scores import mutant_scores
from docs.site.nvcc_options import nvcc_options_table
from docs.site.on_gpu import ON_GPU_TABLES, on_gpu_table
from docs.site.overhead import overhead_tables, vortex_tables
from docs.site.presets import presets_tables, signature_configurations
from docs.site.ptx_support import instructions_table, types_table
from docs.site.python_api import api_reference
from docs.site.results import results_table
from docs.site.runtime_protocol import protocol_messages
from docs.site.sigrace_tables import cost_table, pace_table, rollback_table
from docs.site.sweep_plot import metadata_plot
from docs.site.thread_programs import (
    program_chapters,
    programs_table,
    small_programs_table,
)
from docs.site.tiles import tiles_table
from docs.site.vortex import detection_table, overhead_table
from docs.site.walk_part import walk_example, walk_page
from docs.site.waveforms import check_pipeline, front_end, summary_message
from docs.site.weak_memory_programs import programs_tables
from racetrap.generators.register_files import register_manual
from racetrap.generators.systems import SYSTEMS
from tests.support.gpu.construct_verdicts import verdicts

#: Parts that are read off the sources.
PARTS: Mapping[str, Callable[[], str]] = {
    "codes": codes_table,
    "commands": commands_reference,
    "constructs": constructs_table,
    "first-limits": first_limits,
    "front-end": fields_table,
    "json": json_reference,
    "load-decisions": partial(decision_table, "load"),
    "mutant-scores": mutant_scores,
    "nvcc-options": nvcc_options_table,
    "overhead-paper": partial(overhead_tables, "paper"),
    "overhead-tiny": partial(overhead_tables, "tiny"),
    "overhead-small": partial(overhead_tables, "small"),
    "overhead-vortex": vortex_tables,
    "presets": presets_tables,
    "ptx-instructions": instructions_table,
    "ptx-types": types_table,
    "python-api": api_reference,
    "runtime-protocol": protocol_messages,
    "signature-configurations": signature_configurations,
    "sigrace-rdm-cost": partial(cost_table, "rdm", "filters=4"),
    "sigrace-search-cost": partial(cost_table, "search", "filters=4"),
    "sigrace-message-cycles": partial(pace_table, "cycles a message"),
    "sigrace-message-parts-7": partial(pace_table, "parts with 7 scanners"),
    "sigrace-message-parts-8": partial(pace_table, "parts with 8 scanners"),
    "sigrace-program-cycles": partial(pace_table, "cycles"),
    "sigrace-rollbacks": partial(rollback_table, "size small of 13 programs"),
    "sigrace-stalls": partial(pace_table, "for the RDM"),
    "small-thread-programs": small_programs_table,
    "store-decisions": partial(decision_table, "store"),
    "thread-program-chapters": program_chapters,
    "thread-programs": programs_table,
    "tiles": tiles_table,
    "vortex-detection": detection_table,
    "vortex-overhead": overhead_table,
    "walk": walk_page,
    "walk-example": walk_example,
    "weak-memory-programs": programs_tables,
    "results": results_table,
    **{name: partial(page_table, name) for name in PAGE_TABLES},
    **{name: partial(on_gpu_table, name) for name in ON_GPU_TABLES},
    **{f"limits-{detector}": partial(limits_table, detector) for detector in LIMITS},
    **{f"method-{method}": partial(method_table, method) for method in METHODS},
    **{f"registers-{system.name}": partial(register_manual, system) for system in SYSTEMS},
}
#: Two pages have parts of the same run.
_construct_verdicts = cache(verdicts)
#: Parts that take seconds: what elaborated and simulated designs and runs of suites give.
SLOW_PARTS: Mapping[str, Callable[[], str]] = {
    "block-diagram-bank": partial(diagram_of, "Detector bank", "scord-tiny", "top.bank_0"),
    "block-diagram-core-unit": partial(
        diagram_of, "SigRace's core unit", "sigrace-tiny", "top.core_unit_0"
    ),
    "block-diagram-monitor": partial(diagram_of, "Bus monitor", "noncoherent-tiny"),
    "block-diagram-rdm": partial(
        diagram_of, "Race Detection Module of two cores", "sigrace-tiny", "top.rdm"
    ),
    "block-diagram-scord": partial(diagram_of, "ScoRD with two SMs and a bank", "scord-tiny"),
    "block-diagram-tracker": partial(diagram_of, "Tracker of an SM", "scord-tiny", "top.tracker_0"),
    "concurrency-suite": lambda: suite_tables(run_suite()),
    "construct-detector": lambda: detector_sentence(_construct_verdicts()),
    "first-race": first_race,
    "construct-verdicts": lambda: verdicts_tables(_construct_verdicts()),
    "sweep-metadata": metadata_plot,
    "waveform-check-pipeline": check_pipeline,
    "waveform-front-end": front_end,
    "waveform-summary-message": summary_message,
}
