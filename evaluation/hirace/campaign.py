"""Random tests of HiRace: cases of two or three launches.

Stimulus, timing of the memories, region and report ring are drawn for each case.
"""

from __future__ import annotations

from racetrap.evaluation.campaign.gpu_volume import FIGURES, LaunchCases
from racetrap.evaluation.campaign.random_volume import RandomVolume
from racetrap.sim.cosim.hirace.fast_compare import check_launch, transactions_of
from racetrap.sim.cosim.hirace.fast_simulation import FastSim
from racetrap.sim.cosim.hirace.random_events import STYLES, random_events

play = LaunchCases(FastSim, check_launch, transactions_of, random_events, STYLES)
RANDOM_VOLUME = RandomVolume(play, FIGURES)
