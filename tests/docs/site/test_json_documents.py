"""Reference of the JSON, and the schemas as files."""

import json
import re

from docs.site.json_documents import json_reference, write_schemas
from racetrap.schemas.json_schema import DOCUMENTS, schema_of


def test_every_command_has_a_chapter_and_every_link_an_object():
    text = json_reference()
    assert re.findall(r"(?m)^## `racetrap (.*)`$", text) == list(DOCUMENTS)
    objects = {name.lower() for name in re.findall(r"(?m)^### (.*)$", text)}
    assert set(re.findall(r"\]\(#(\w+)\)", text)) == objects


def test_a_chapter():
    text = json_reference()
    part = text.partition("## `racetrap trace slice`\n")[2].partition("\n## ")[0]
    assert "\n| `left_out` | integer | accesses left out |\n" in part
    assert '<a href="schemas/trace-slice.json">' in part


def test_schemas_as_files(tmp_path):
    write_schemas(tmp_path)
    files = sorted(path.name for path in (tmp_path / "schemas").iterdir())
    assert files == sorted(f"{name.replace(' ', '-')}.json" for name in DOCUMENTS)
    assert json.loads((tmp_path / "schemas" / "check.json").read_text()) == schema_of("check")
