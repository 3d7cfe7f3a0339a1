"""Decision tables of ScoRD as the site shows them."""

import re

from docs.site.decision_tables import decision_table
from racetrap.golden_model.scord.packets import TableRow

_LOADS, _STORES = decision_table("load"), decision_table("store")
#: Rows of what the tables do not decide.
_OTHERS = {TableRow.NONE, TableRow.FENCE, TableRow.UNMONITORED}


def test_every_row_is_in_the_table_of_its_access():
    for row in set(TableRow) - _OTHERS:
        assert (f"\n| `{row.name}` | " in _LOADS) == row.name.startswith("LOAD_")
        assert (f"\n| `{row.name}` | " in _STORES) == row.name.startswith("STORE_")


def test_every_condition_of_the_paper_decides():
    decided = set(re.findall(r" \| (I\w+ \(\w\)) \| ", _LOADS + _STORES))
    assert decided == {f"III ({letter})" for letter in "abc"} | {
        f"IV ({letter})" for letter in "abcdef"
    }
    assert "IV (e)" not in _STORES
    assert "IV (f)" not in _LOADS


def test_a_rule():
    assert re.search(
        r"\| `STORE_NOT_STRONG` \| IV \(c\) \| not both strong \| race: not strong \| take \(",
        _STORES,
    )
