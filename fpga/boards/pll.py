"""Divider settings of the boards' phase-locked loops, from the two frequencies.

Ref: Lattice FPGA-TN-02200 (ECP5 sysCLOCK PLL) Sections 17-18; Lattice FPGA-TN-02052 (iCE40
sysCLOCK PLL) Section 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

# Limits in MHz: input of the phase detector, oscillator.
_ECP5_DETECTOR = (Fraction("3.125"), Fraction(400))
_ECP5_OSCILLATOR = (400, 800)
_ECP5_DIVIDER = 128
_ECP5_FEEDBACK = 80
_ECP5_OUTPUT = 400
_ICE40_DETECTOR = (10, 133)
_ICE40_OSCILLATOR = (533, 1066)
#: Loop filter for a phase detector below each frequency in MHz.
_ICE40_FILTER = {17: 1, 26: 2, 44: 3, 66: 4, 101: 5, 134: 6}


@dataclass(frozen=True)
class Ecp5Pll:
    """Dividers of an EHXPLLL with feedback from CLKOP and the clock at CLKOS.

    Parameters
    ----------
    reference, feedback, primary, secondary : int
        CLKI_DIV, CLKFB_DIV, CLKOP_DIV and CLKOS_DIV.
    """

    reference: int
    feedback: int
    primary: int
    secondary: int

    def oscillator_mhz(self, input_mhz: Fraction) -> Fraction:
        """Frequency of the oscillator."""
        return input_mhz / self.reference * self.feedback * self.primary

    def output_mhz(self, input_mhz: Fraction) -> Fraction:
        """Frequency of CLKOS."""
        return self.oscillator_mhz(input_mhz) / self.secondary


@dataclass(frozen=True)
class Ice40Pll:
    """Fields of an SB_PLL40_CORE with simple feedback.

    Parameters
    ----------
    divr, divf, divq, filter_range : int
        As the parameters of the cell: one less than the divider of the input and of the
        feedback, log2 of the divider of the output, and the loop filter.
    """

    divr: int
    divf: int
    divq: int
    filter_range: int

    def oscillator_mhz(self, input_mhz: Fraction) -> Fraction:
        """Frequency of the oscillator."""
        return input_mhz / (self.divr + 1) * (self.divf + 1)

    def output_mhz(self, input_mhz: Fraction) -> Fraction:
        """Frequency of the output."""
        return self.oscillator_mhz(input_mhz) / (1 << self.divq)


def ecp5_pll(input_mhz: Fraction, output_mhz: Fraction) -> Ecp5Pll:
    """Dividers that give exactly ``output_mhz``; the fastest phase detector of those that do.

    Raises
    ------
    ValueError
        If no setting gives the frequency exactly.
    """
    for reference in range(1, _ECP5_DIVIDER + 1):
        for pll in _ecp5_candidates(input_mhz, output_mhz, reference):
            return pll
    raise _impossible(input_mhz, output_mhz)


def _ecp5_candidates(
    input_mhz: Fraction, output_mhz: Fraction, reference: int
) -> Iterator[Ecp5Pll]:
    detector = input_mhz / reference
    if not _ECP5_DETECTOR[0] <= detector <= _ECP5_DETECTOR[1]:
        return
    low, high = _ECP5_OSCILLATOR
    for multiplier in range(ceil(low / detector), floor(high / detector) + 1):
        secondary = detector * multiplier / output_mhz
        if secondary.denominator != 1 or secondary > _ECP5_DIVIDER:
            continue
        for primary in range(1, _ECP5_DIVIDER + 1):
            feedback, rest = divmod(multiplier, primary)
            if not rest and feedback <= _ECP5_FEEDBACK and detector * feedback <= _ECP5_OUTPUT:
                yield Ecp5Pll(reference, feedback, primary, int(secondary))


def ice40_pll(input_mhz: Fraction, output_mhz: Fraction) -> Ice40Pll:
    """Fields that give exactly ``output_mhz``; the fastest phase detector of those that do.

    Raises
    ------
    ValueError
        If no setting gives the frequency exactly.
    """
    for divr in range(16):
        detector = input_mhz / (divr + 1)
        if not _ICE40_DETECTOR[0] <= detector <= _ICE40_DETECTOR[1]:
            continue
        for divq in range(1, 7):
            oscillator = output_mhz * (1 << divq)
            feedback = oscillator / detector
            low, high = _ICE40_OSCILLATOR
            if low <= oscillator <= high and feedback.denominator == 1 and feedback <= 128:
                filter_range = next(value for top, value in _ICE40_FILTER.items() if detector < top)
                return Ice40Pll(divr, int(feedback) - 1, divq, filter_range)
    raise _impossible(input_mhz, output_mhz)


def _impossible(input_mhz: Fraction, output_mhz: Fraction) -> ValueError:
    return ValueError(
        f"Clock must be a frequency that the PLL makes of {float(input_mhz):g} MHz exactly, "
        f"not {float(output_mhz):g} MHz"
    )
