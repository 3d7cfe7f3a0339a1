"""Generated parts that the build of the site keeps, and which pages to read again if only the code
has changed.

A part that is read off the sources is made in every build, and its page is read again if the text
differs.  One that takes long is kept until a build with ``-D remake_slow=1``; others say which are
of earlier sources.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Kept:
    """What an earlier build has made.

    Parameters
    ----------
    quick : dict of str to dict of str to str
        Texts of the parts that are read off the sources, by page and name.
    slow : dict of str to tuple of (str, str)
        Parts that take long, by name: the key of the sources, and the text.
    """

    quick: dict[str, dict[str, str]] = field(default_factory=dict)
    slow: dict[str, tuple[str, str]] = field(default_factory=dict)

    def slow_text(self, name: str, remakes: bool) -> str:
        """A part that takes long, made if there is none, or if it is of earlier sources and should
        be made again."""
        from docs.site.parts import SLOW_PARTS

        key, text = self.slow.get(name, ("", ""))
        if not key or (remakes and key != sources_key()):
            text = SLOW_PARTS[name]()
            self.slow[name] = sources_key(), text
        return text

    def quick_text(self, name: str, page: str) -> str:
        """A part that is read off the sources, on a page."""
        from docs.site.parts import PARTS

        text = PARTS[name]()
        self.quick.setdefault(page, {})[name] = text
        return text

    def earlier(self) -> list[str]:
        """Parts that take long and are of earlier sources."""
        from docs.site.parts import SLOW_PARTS

        there = {name: key for name, (key, _) in self.slow.items() if name in SLOW_PARTS}
        return sorted(name for name, key in there.items() if key != sources_key())

    def outdated(self) -> list[str]:
        """Pages with a part that is read off the sources and that would differ now."""
        from docs.site.parts import PARTS

        return [
            page
            for page, texts in self.quick.items()
            if any(name not in PARTS or PARTS[name]() != text for name, text in texts.items())
        ]


def sources_key() -> str:
    """Hash of all that makes parts."""
    from racetrap.evaluation.kept_results import sources
    from racetrap.sim.content_cache import content_key

    return content_key(sources(), files=sorted(Path(__file__).parent.rglob("*.py")))
