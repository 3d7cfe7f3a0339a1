"""SigRace as a detector: configurations, and data for generation.

Ref: SigRace (ISCA'09) Section 5.5, Tables 4-6.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from racetrap.generators.system import Preset, System, presets_by_name
from racetrap.golden_model.sigrace.packets import Cause, CoreOp, Drop, RdmStepKind, Relation
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.golden_model.sigrace.state import state_bits
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

if TYPE_CHECKING:
    from amaranth.lib.wiring import Component


_PRESETS = presets_by_name(
    # Everything overflows, wraps and saturates soon: the configuration of most tests.
    Preset(
        "sigrace-tiny",
        "2 cores, 3 threads, short blocks and queues, for tests",
        SigraceParams(
            cores=2, threads=3, filters=4, filter_bits=32, usb_limit=4, block_instructions=50,
            history_depth=4, timestamp_bits=6, log_depth=2, log_blocks=2, trap_depth=2,
            link_depth=4,
        ),
    ),
    # The paper's own: B2_S2 of Tables 5 and 6, 8 processors, 16 entries, 20-bit counters.
    Preset("sigrace", "The paper's detector: 8 cores, 2 Kbit signatures", SigraceParams()),
)  # fmt: skip

#: 1, 2^n - 1, 2^n and 2^n + 1 are well represented.
_CHOICES: Mapping[str, Sequence[Any]] = {
    "cores": (1, 2, 3, 4, 5),
    "contexts": (1, 1, 2, 3),
    "threads": (1, 2, 3, 4, 5, 7, 8, 9),
    "lsb_bits": (4, 8, 9, 10, 12, 16),
    "filters": (2, 4, 8, 16),
    "filter_bits": (16, 32, 64, 256),
    "one_hot_lsb": (False, False, True),
    "form": tuple(Form),
    "usb_limit": (1, 2, 3, 4, 5, 24),
    "block_instructions": (1, 7, 8, 9, 100, 2000),
    "history_depth": (1, 2, 3, 4, 5, 16),
    "timestamp_bits": (2, 3, 4, 20, 32),
    "sequence_bits": (2, 3, 8),
    "log_depth": (1, 2, 3, 4, 5),
    "log_blocks": (1, 2, 8),
    "trap_depth": (1, 2, 3, 4, 5),
    "link_depth": (2, 3, 4, 5, 32),
    "pc_bits": (8, 20, 32),
    "scanners": (1, 1, 2, 3, 4, 7),
    "decompressors": (1, 1, 2, 3),
}

#: The first kinds are the method's, the others are overhead of the hardware.
_STATE_KINDS = {
    "timestamps": r"\.core_unit_\d+\.state\.timestamp",
    "timestamps_to_reach": r"\.core_unit_\d+\.state\.trt",
    "read_write_sets": r"\.core_unit_\d+\.(sets|signatures)",
    "conflict_signatures": r"\.core_unit_\d+\.traps$",
    "history_queues": r"\.rdm\.controller\.search\.search_\d+\.queues",
    "trap_records": r"\.core_unit_\d+\.traps\.",
    "compressors": r"\.core_unit_\d+\.compressor",
    "core_pipelines": r"\.core_unit_\d+",
    "links": r"\.(context_arbiter_\d+|rdm\.(link_\d+|arbiter))",
    "decompressor": r"\.rdm\.decompressor",
    "core_to_thread": r"\.rdm\.core_to_thread",
    "scanner": r"\.rdm\.controller",
    "conflict_log": r"\.rdm\.log",
    "registers": r"\.rdm(\.registers)?$|^top$",
}
#: Fields shown by name.
_CODES = {
    "event.op": CoreOp,
    "core_step.event_op": CoreOp,
    "core_step.cause": Cause,
    "rdm_step.kind": RdmStepKind,
    "rdm_step.cause": Cause,
    "rdm_step.relation": Relation,
    "rdm_step.drop": Drop,
}


def _top(params: SigraceParams) -> Component:
    # Amaranth is imported only for generation: other users need only the parameters.
    from racetrap.rtl.sigrace.system import SigraceSystem

    return SigraceSystem(params)


def _core_unit(params: SigraceParams) -> Component:
    from racetrap.rtl.sigrace.core_unit import CoreUnit

    return CoreUnit(params)


def _rdm(params: SigraceParams) -> Component:
    from racetrap.rtl.sigrace.rdm import Rdm

    return Rdm(params)


def _register_parameters(params: SigraceParams) -> dict[str, int]:
    # Likewise the compiler of register descriptions.
    from racetrap.rtl.sigrace.registers import register_parameters

    return register_parameters(params)


SIGRACE = System(
    name="sigrace",
    title="SigRace",
    params=SigraceParams,
    trace=ThreadTrace,
    presets=_PRESETS,
    random_prefix="sigrace-random",
    choices=_CHOICES,
    top=_top,
    parts={"core-unit": _core_unit, "rdm": _rdm},
    layouts=("event", "core_step", "trap", "flit", "header", "rdm_step", "log"),
    traces={"core_step": "trace_core", "rdm_step": "trace_rdm"},
    state_kinds=_STATE_KINDS,
    method_bits=state_bits,
    inputs={"event": "i_event"},
    register_parameters=_register_parameters,
    codes=_CODES,
    # The fast co-simulation counts what takes the cycles.
    back_doors={
        "rdm.controller": {"o_idle": "rd"},
        "rdm.decompressor": {"o_idle": "rd"},
        "rdm.link": {"i__valid": "rd", "i__ready": "rd"},
    },
)


def widened(params: SigraceParams, threads: int, kept: Container[str] = ()) -> SigraceParams:
    """A machine with a context for each thread, otherwise the same.

    Parameters
    ----------
    params : SigraceParams
        The machine; returned unchanged if large enough.
    threads : int
        Threads of a program.
    kept : container of str
        Parameters that must not change.

    Raises
    ------
    ValueError
        If no machine can have this many threads.
    """
    most = params.most("threads")
    if threads > most:
        raise ValueError(
            f"Trace has {threads} threads, but this detector has at most {most}: check with --exact"
        )
    contexts = max(params.contexts, -(-threads // params.most("cores")))
    needed = {"threads": threads, "contexts": contexts, "cores": -(-threads // contexts)}
    return replace(params, **{
        name: max(value, getattr(params, name))
        for name, value in needed.items()
        if name not in kept
    })  # fmt: skip
