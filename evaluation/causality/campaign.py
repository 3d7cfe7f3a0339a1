"""Random tests of causality: cases of two or three launches.

Stimulus, timing of the memories, region and report ring are drawn for each case.
"""

from __future__ import annotations

from operator import attrgetter

from racetrap.evaluation.campaign.gpu_volume import FIGURES, LaunchCases
from racetrap.evaluation.campaign.random_volume import RandomVolume
from racetrap.sim.cosim.causality.fast_compare import at_tiles, check_launch, transactions_of
from racetrap.sim.cosim.causality.fast_simulation import FastSim
from racetrap.sim.cosim.causality.random_events import random_events
from racetrap.sim.cosim.causality.styles import OWN_LINES, STYLES

#: The golden model of causality takes several times as long for an access as others.
_SHARE = 4

play = LaunchCases(
    FastSim,
    check_launch,
    transactions_of,
    random_events,
    STYLES | OWN_LINES,
    share=_SHARE,
    at_tiles=at_tiles,
    late_of=attrgetter("late"),
)
RANDOM_VOLUME = RandomVolume(play, FIGURES)
