"""Random tests of HiRace: cases of two launches.

Stimulus, timing of the memories, region and report ring are drawn for each case.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from racetrap.evaluation.campaign.gpu_volume import (
    ACCESSES,
    FIGURES,
    launch_options,
    memory_timing,
    random_region,
)
from racetrap.evaluation.campaign.random_volume import RandomVolume
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.gpu.launch_result import LaunchResult
from racetrap.sim.cosim.hirace.coverage import Coverage
from racetrap.sim.cosim.hirace.fast_compare import check_launch, transactions_of
from racetrap.sim.cosim.hirace.fast_simulation import FastSim
from racetrap.sim.cosim.hirace.random_events import STYLES, random_events


def play(
    model: FastModel[HiraceParams], number: int, random: Random, observer: Coverage | None
) -> Iterator[LaunchResult]:
    """Play the launches of case ``number``; gives what each compared.

    Raises
    ------
    Mismatch
        If hardware and golden model differ.
    SimulationError
        If the simulation cannot continue.
    """
    params = model.params
    style = list(STYLES.values())[number % len(STYLES)]
    with FastSim(model, random.getrandbits(63), memory_timing(random)) as sim:
        for accesses in ACCESSES:
            region = random_region(random, params)
            # An access with n lanes at most gives about n/2 accesses to words.
            instructions = 2 * accesses // (style.lanes + 1)
            if observer is not None:
                observer.launch(region)
            events = random_events(params, region, style, random.getrandbits(32), instructions)
            yield check_launch(
                sim, params, region, transactions_of(events, params),
                **launch_options(random), observer=observer,
            )  # fmt: skip


RANDOM_VOLUME = RandomVolume(play, FIGURES)
