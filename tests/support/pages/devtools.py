"""Pages in one browser, as a person on a desk or with a phone sees them: what is cut, and pictures.

Commands go to Chromium through a pipe, in the protocol of its developer tools.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.pages.browser import ARGUMENTS, CHROMIUM

#: Widths of windows: on a desk, and of a phone.
WIDTHS = {"desk": 1400, "phone": 390}
_HEIGHT = 900
#: Seconds that a page may take.
_PATIENCE = 60

#: What a reader cannot see, each in a few words: what reaches beyond the window or its own box
#: without a way to scroll there, and text of a figure beyond its edge.
_CUT = """(isDesk => {
  const root = document.documentElement, cut = [];
  const tell = (element, why) =>
    cut.push(`${element.tagName.toLowerCase()} ${why}: ${element.textContent.trim().slice(0, 60)}`);
  const isSeen = element =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const scrolls = element => {
    for (let each = element; each && each !== root; each = each.parentElement)
      if (["auto", "scroll"].includes(getComputedStyle(each).overflowX)) return true;
    return false;
  };
  if (root.scrollWidth > root.clientWidth)
    cut.push(`page ${root.scrollWidth} wide in ${root.clientWidth}`);
  for (const each of document.body.querySelectorAll("*")) {
    if (!isSeen(each) || each.parentElement.closest("svg")) continue;
    if (scrolls(each)) {
      const box = each.parentElement;
      if (isDesk && each.matches("svg") && box.scrollWidth > box.clientWidth + 1)
        tell(each, "scrolls on a desk");
      continue;
    }
    const box = each.getBoundingClientRect();
    if (box.width && box.left < root.clientWidth && box.right > root.clientWidth + 1
        && box.bottom > 0)
      tell(each, "beyond the window");
    if (each.matches("pre, table, figure, svg, code, td, th") && each.clientWidth
        && each.scrollWidth > each.clientWidth + 1)
      tell(each, "beyond its box");
  }
  for (const text of document.querySelectorAll("svg text")) {
    if (!isSeen(text)) continue;
    const box = text.getBoundingClientRect(), edge = text.ownerSVGElement.getBoundingClientRect();
    if (box.left < edge.left - 1 || box.right > edge.right + 1 || box.top < edge.top - 2
        || box.bottom > edge.bottom + 2)
      tell(text, "beyond its figure");
  }
  return cut;
})"""


class Browser:
    """A running Chromium with one page.

    Parameters
    ----------
    write, read : int
        Ends of its pipes.
    """

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, os.fdopen(read, "rb")
        self._numbers = itertools.count(1)
        self._session: dict[str, str] = {}
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self._ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        self._ask("Page.enable")

    def show(self, file: Path, width: int, *, is_dark: bool = False) -> None:
        """Load a page.

        Parameters
        ----------
        file : Path
            The page.
        width : int
            Of the window.
        is_dark : bool
            Whether the reader wants a dark one.
        """
        self._ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=_HEIGHT, deviceScaleFactor=1,
            mobile=width < _HEIGHT,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self._ask("Emulation.setEmulatedMedia", features=[scheme])
        self._ask("Page.navigate", url=file.resolve().as_uri())
        while self._message().get("method") != "Page.loadEventFired":
            pass
        # What scripts draw after the page was loaded.
        self.evaluate("new Promise(done => setTimeout(done, 150))")

    def evaluate(self, script: str) -> Any:
        """Value of a script on the page."""
        result = self._ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def cut(self, *, is_desk: bool = False) -> list[str]:
        """What of the page is cut; on a desk also what would have to be scrolled of figures."""
        found: list[str] = self.evaluate(f"{_CUT}({json.dumps(is_desk)})")
        return found

    def picture(self, file: Path) -> None:
        """Write a picture of the whole page."""
        data = self._ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        file.write_bytes(base64.b64decode(data))

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters, **self._session}
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._message()).get("id") != number:
            pass
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _message(self) -> dict[str, Any]:
        text = bytearray()
        while (byte := self._read.read(1)) != b"\0":
            assert byte, "Chromium ended"
            text += byte
        message: dict[str, Any] = json.loads(text)
        return message


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """A browser, whose profile lies in a folder."""
    to_read, write = os.pipe()
    read, to_write = os.pipe()
    # Chromium reads commands from descriptor 3 and writes answers to 4.
    shell = f'exec 3<&{to_read} 4>&{to_write}; exec "$0" "$@"'
    process = subprocess.Popen(
        ["bash", "-c", shell, str(CHROMIUM), *ARGUMENTS, "--remote-debugging-pipe",
         f"--user-data-dir={folder / 'profile'}"],
        pass_fds=(to_read, to_write), stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(to_read)
    os.close(to_write)
    try:
        yield Browser(write, read)
    finally:
        process.terminate()
        process.wait(_PATIENCE)
        os.close(write)
