"""The page on accelerators agrees with the code: rules and their words."""

import re

from racetrap.golden_model.noncoherent.rules import Rule, sentence
from tests.support import REPOSITORY


def test_every_rule_with_its_words():
    page = (REPOSITORY / "docs" / "noncoherent.md").read_text(encoding="utf-8")
    table = page.partition("## Rules\n")[2].partition("\n\nThe short")[0]
    rows = re.findall(r"^\| `([\w-]+)` \|.*\| ([^|]+) \|$", table, re.M)
    assert rows == [(rule.value, sentence(rule)) for rule in Rule]
