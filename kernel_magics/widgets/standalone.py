"""Writes a module view as one HTML page: no kernel, no network, no other file."""

import base64
import hashlib
import json
from html import escape
from pathlib import Path

from kernel_magics.widgets.protocol import ModuleView

_BUNDLE = Path(__file__).parents[1] / "static/standalone.js"
_NOT_BUILT = "document.body.textContent = 'The page needs the built front end of Kernel Magics.';"
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:">
<title>{title}</title>
</head>
<body>
<noscript>This page draws a module with JavaScript, which is switched off.</noscript>
<script type="application/json" id="kernel-magics-view">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def page(view: ModuleView) -> str:
    """Returns the page that shows `view`.

    Whatever a module is called, nothing of it is ever read as markup: the data is JSON in which
    `<`, `>` and `&` are spelled as escapes, and the browser runs one script alone, by its digest.
    """
    script = _BUNDLE.read_text(encoding="utf-8") if _BUNDLE.is_file() else _NOT_BUILT
    # Of what ends a script element, this is the only form that JavaScript reads the same way.
    script = script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    return _PAGE.format(
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii"),
        title=escape(f"{view['title']} · Kernel Magics"),
        data=_escaped(json.dumps(view, separators=(",", ":"))),
        script=script,
    )


def _escaped(data: str) -> str:
    """JSON that means the same and holds nothing that HTML could take for its own."""
    for character in "<>&":
        data = data.replace(character, f"\\u{ord(character):04x}")
    return data
