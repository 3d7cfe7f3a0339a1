"""PLL settings: the frequency is exact, every limit of the data sheets is kept."""

from fractions import Fraction

import pytest

from racetrap.fpga.boards.pll import ecp5_pll, ice40_pll


@pytest.mark.parametrize("input_mhz", [12, 25, 48, 100])
@pytest.mark.parametrize("output_mhz", [20, 24, 25, 48, 50, 60, 100])
def test_ecp5_clock_is_exact(input_mhz, output_mhz):
    pll = ecp5_pll(Fraction(input_mhz), Fraction(output_mhz))
    assert pll.output_mhz(Fraction(input_mhz)) == output_mhz
    assert 400 <= pll.oscillator_mhz(Fraction(input_mhz)) <= 800
    assert Fraction(input_mhz) / pll.reference >= Fraction("3.125")
    assert max(pll.feedback, pll.primary, pll.secondary) <= 128


@pytest.mark.parametrize("output_mhz", [24, 30, 36, 48])
def test_ice40_clock_is_exact(output_mhz):
    pll = ice40_pll(Fraction(12), Fraction(output_mhz))
    assert pll.output_mhz(Fraction(12)) == output_mhz
    assert 533 <= pll.oscillator_mhz(Fraction(12)) <= 1066
    assert pll.divr <= 15
    assert pll.divf <= 127
    assert 1 <= pll.divq <= 6


@pytest.mark.parametrize("make", [ecp5_pll, ice40_pll])
def test_impossible_clock_is_refused(make):
    with pytest.raises(ValueError, match=r"exactly, not 1\.7 MHz"):
        make(Fraction(12), Fraction("1.7"))
