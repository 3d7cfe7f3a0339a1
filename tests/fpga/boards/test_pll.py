"""PLL settings: the frequency is exact, every limit of the data sheets is kept.

The frequencies beyond the usual ones are those where a limit decides: without it, a setting
beyond it would be taken.  Two limits follow from others: ECP5's phase detector is never faster
than CLKOP, and iCE40's feedback never divides by more than oscillator over phase detector, 106.
"""

from bisect import bisect
from fractions import Fraction
from itertools import product
from math import ceil

import pytest

from racetrap.fpga.boards.pll import ecp5_pll, ice40_pll

_ECP5_CLOCKS = [
    *product(["12", "25", "48", "100"], ["20", "24", "25", "48", "50", "60", "100"]),
    ("4", "100"),  # not with a feedback divider of 100
    ("401", "100.25"),  # not with CLKOP at 401 MHz
]
_ICE40_CLOCKS = [
    *product(["12"], ["24", "30", "36", "48"]),
    ("134", "67"),  # not with 134 MHz at the phase detector
    ("10", "265"),  # not with an oscillator at 530 MHz
]


@pytest.mark.parametrize(("input_mhz", "output_mhz"), _ECP5_CLOCKS)
def test_ecp5_clock_is_exact(input_mhz, output_mhz):
    pll = ecp5_pll(Fraction(input_mhz), Fraction(output_mhz))
    detector = Fraction(input_mhz) / pll.reference
    primary = detector * pll.feedback  # CLKOP
    oscillator = primary * pll.primary
    assert oscillator == pll.oscillator_mhz(Fraction(input_mhz))
    assert oscillator / pll.secondary == Fraction(output_mhz) == pll.output_mhz(Fraction(input_mhz))
    assert Fraction("3.125") <= detector <= 400
    assert 400 <= oscillator <= 800
    assert primary <= 400
    assert 1 <= pll.feedback <= 80
    for divider in (pll.reference, pll.primary, pll.secondary):
        assert 1 <= divider <= 128


@pytest.mark.parametrize(("input_mhz", "output_mhz"), _ICE40_CLOCKS)
def test_ice40_clock_is_exact(input_mhz, output_mhz):
    pll = ice40_pll(Fraction(input_mhz), Fraction(output_mhz))
    detector = Fraction(input_mhz) / (pll.divr + 1)
    oscillator = detector * (pll.divf + 1)
    assert oscillator == pll.oscillator_mhz(Fraction(input_mhz))
    assert oscillator / 2**pll.divq == Fraction(output_mhz) == pll.output_mhz(Fraction(input_mhz))
    assert 10 <= detector <= 133
    assert 533 <= oscillator <= 1066
    assert 0 <= pll.divr <= 15
    assert 0 <= pll.divf <= 127
    assert 1 <= pll.divq <= 6


@pytest.mark.parametrize("detector_mhz", [10, 16, 17, 25, 26, 43, 44, 65, 66, 100, 101, 133])
def test_ice40_filter_is_for_the_phase_detector(detector_mhz):
    input_mhz = Fraction(detector_mhz)
    pll = ice40_pll(input_mhz, input_mhz * ceil(533 / input_mhz) / 16)
    assert pll.divr == 0
    assert pll.filter_range == 1 + bisect((17, 26, 44, 66, 101), detector_mhz)


@pytest.mark.parametrize(
    ("make", "input_mhz", "output_mhz"),
    [
        (ecp5_pll, "12", "1.7"),
        (ecp5_pll, "10", "201.25"),  # only with 2.5 MHz at the phase detector
        (ecp5_pll, "12.48", "3.12"),  # only with an oscillator at 399.36 MHz, or CLKOS_DIV of 129
        (ecp5_pll, "6", "202.5"),  # only with an oscillator at 810 MHz
        (ecp5_pll, "403.125", "3.125"),  # only with CLKI_DIV of 129
        (ecp5_pll, "4", "131"),  # only with CLKOP_DIV of 131
        (ice40_pll, "12", "1.7"),
        (ice40_pll, "19", "67.6875"),  # only with 9.5 MHz at the phase detector
        (ice40_pll, "10", "66.875"),  # only with an oscillator at 1,070 MHz
        (ice40_pll, "170", "33.75"),  # only with DIVR of 16
        (ice40_pll, "12", "600"),  # only with DIVQ of 0
        (ice40_pll, "16", "8"),  # only with DIVQ of 7
    ],
)
def test_impossible_clock_is_refused(make, input_mhz, output_mhz):
    with pytest.raises(ValueError, match=f"exactly, not {output_mhz} MHz"):
        make(Fraction(input_mhz), Fraction(output_mhz))
