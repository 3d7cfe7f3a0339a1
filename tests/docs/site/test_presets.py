"""Tables of the presets."""

import re

from docs.site.presets import presets_tables
from racetrap.generators.presets import PRESETS, find_preset, with_settings
from racetrap.generators.systems import SYSTEMS

_LARGE_PRESETS = [name for system in SYSTEMS for name in system.large_presets]


def test_values_of_presets_are_as_they_are_set():
    tables = re.findall(r"(?m)^\| parameter \|.*\n(?:\|.*\n)+", presets_tables())
    shown = []
    for table in tables:
        (_, *names), _, *rows = [line.strip("| ").split(" | ") for line in table.splitlines()]
        for number, name in enumerate(names, 1):
            preset = find_preset(name.strip("`"))
            settings = [f"{row[0].strip('`')}={row[number]}" for row in rows]
            assert with_settings(preset.params, settings) == preset.params
            shown.append(preset.name)
    assert sorted(shown) == sorted([*PRESETS, *_LARGE_PRESETS])


def test_purposes_and_sizes():
    assert (
        "\n| `scord` | The paper's detector: 12.5 % metadata by software caching | 3000 bytes "
        in (presets_tables())
    )
