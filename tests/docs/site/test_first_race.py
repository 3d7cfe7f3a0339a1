"""The race of the first page: what a run made now prints, its timeline and its cure."""

import pytest

from docs.site.first_race import first_race
from tests.support.gpu.cuda_programs import needs_compiler


@needs_compiler
@pytest.mark.campaign
def test_a_run_gives_the_race_and_its_cure():
    text = first_race()
    assert "no barrier of the block lies between them [RT101]" in text
    assert "object: shared `part[" in text
    assert "help: insert `__syncthreads();` before docs/examples/block-sum.cu:8" in text
    assert ":emphasize-lines: 8\n" in text
    assert "\n+        __syncthreads();\n" in text
    assert 'class="missing"' in text
    # A block of HTML in Markdown ends at an empty line.
    assert "\n\n" not in text[text.index("<svg") : text.index("</svg>")]
    assert "20 further schedules and 20 runs by PTX" in text
