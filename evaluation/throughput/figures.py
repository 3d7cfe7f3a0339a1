"""Figures of `racetrap bench`: what measures each of them, by its key in JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from racetrap.evaluation.throughput import (
    accelerator_rates,
    analysis_rates,
    executor_rates,
    recorder_rates,
    scord_cycles,
    sigrace_cycles,
    speed,
)
from racetrap.generators.scord import SCORD
from racetrap.sim.cpu.programs.catalogue import PROGRAMS
from racetrap.sim.gpu.workloads.registry import WORKLOADS

__all__ = ["SIZE", "measurements"]

#: Size of the applications and programs.
SIZE = "small"
#: Instructions of a block, from the paper's to one that is too short.
_BLOCKS = (2000, 1500, 1000, 500)


def measurements(
    system: str, compiled: bool, latency: int | None = None
) -> Mapping[str, Callable[[], Any]]:
    """What measures each figure of a detector.

    Parameters
    ----------
    system : str
        ``scord``, ``sigrace`` or ``noncoherent``.
    compiled : bool
        Whether to measure the golden model of hardware ahead of time, too.
    latency : int, optional
        Cycles after which ScoRD's memory answers; by default at once, and with a port at each L2
        slice as far away as there.
    """
    if system == "noncoherent":
        return _noncoherent()
    own = _scord(latency) if system == "scord" else _sigrace()
    return {"speed": partial(speed.speed, system, compiled), **own}


def _scord(given: int | None) -> dict[str, Callable[[], Any]]:
    latency, far = given or 1, given or scord_cycles.SLICE_LATENCY
    return {
        "latency": lambda: given,
        "accesses_per_cycle": lambda: {
            "streaming": scord_cycles.streaming(latency),
            "back_to_back": scord_cycles.back_to_back(latency),
        },
        "bandwidth": lambda: [
            asdict(scord_cycles.bandwidth(slots, each))
            for slots in scord_cycles.OUTSTANDING
            for each in (scord_cycles.LATENCIES if given is None else (given,))
        ],
        "banks": partial(_banks, latency),
        "fences": lambda: [
            asdict(scord_cycles.fences(lanes, sms))
            for lanes in scord_cycles.FENCE_LANES
            for sms in (lanes, SCORD.presets["scord"].params.sm_count)
        ],
        "saturated": _saturated,
        "widths": lambda: [
            asdict(row)
            for merged in (True, False)
            for words in scord_cycles.WIDTHS
            for row in scord_cycles.width(words, merged, latency)
        ],
        "slices": lambda: [
            asdict(row) for row in (scord_cycles.one_slice(far), *scord_cycles.slices(far))
        ],
        "executor": lambda: {
            threads: executor_rates.measure_executor(threads).per_second
            for threads in executor_rates.THREADS
        },
        "applications": lambda: [
            analysis_rates.application_rates(name, SIZE) for name in WORKLOADS
        ],
    }


def _saturated() -> dict[str, dict[str, Any]]:
    kinds = {name: (name, SCORD.presets[name].params) for name in ("scord", "scord-wide")}
    kinds["scord-tiny, eight words"] = ("scord-tiny", scord_cycles.wide())
    return {name: asdict(speed.saturated(*kind)) for name, kind in kinds.items()}


def _banks(latency: int) -> dict[str, float]:
    one, four = (scord_cycles.banks(preset, latency) for preset in ("scord", "scord-banks4"))
    return {"one": one, "four": four, "ratio": four / one}


def _sigrace() -> dict[str, Callable[[], Any]]:
    return {
        "worst_scan": lambda: asdict(sigrace_cycles.worst_scan()),
        "sustained": lambda: [asdict(sigrace_cycles.sustained(block)) for block in _BLOCKS],
        "recorder": _recorder,
        "programs": lambda: [analysis_rates.program_rates(name, SIZE) for name in PROGRAMS],
    }


def _recorder() -> list[dict[str, Any]]:
    measured = map(recorder_rates.recorder_rates, recorder_rates.MEASURED)
    ratios = ("slowdown", "sigrace_ratio")
    return [asdict(rates) | {name: getattr(rates, name) for name in ratios} for rates in measured]


def _noncoherent() -> dict[str, Callable[[], Any]]:
    return {
        "analysis": lambda: [
            asdict(accelerator_rates.measure_analysis(*one)) for one in accelerator_rates.ANALYSES
        ],
        "recorder": lambda: {
            "neighbours": asdict(accelerator_rates.recorder_rate(1)),
            "scattered": asdict(accelerator_rates.recorder_rate(16)),
        },
    }
