"""One self-contained HTML file: styles, script and pictures are in it.

jinja2 escapes every value. A content security policy allows our own style and script by their hashes and
embedded pictures, and nothing else: markup that slipped through could neither run nor load anything.
"""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from lmr_author import __version__
from lmr_author.core import resources
from lmr_author.core.texts import size_text, whole_percent
from lmr_author.release.reporting import code

_ADDRESS = re.compile(r"^https?://[^\s<>\"'`]+$", re.I)


def render(template: str, page: object) -> str:
    """Fill a template of ``templates/report``, as its variable ``page``."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(resources.folder("templates") / "report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "size": size_text,
        "percent": percent,
        "address": address,
        "prose": prose,
        "capitalize_first": lambda text: text[:1].upper() + text[1:],
        "highlight": code.highlight,
        "plain": code.highlight_alone,
        "diff": code.diff_lines,
        "base64": lambda data: base64.b64encode(data).decode("ascii"),
    }
    style, script = resources.template("report/style.css"), resources.template("report/script.js")
    return environment.get_template(template).render(
        page=page,
        style=Markup(style),
        script=Markup(script),
        policy=_policy(style, script),
        version=__version__,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def address(text: str) -> str:
    """Return a web address that may become a link; "" for anything else (``javascript:``, a local path)."""
    return text if _ADDRESS.match(text) else ""


def prose(text: str) -> Markup:
    """Return text with `names in backticks` set as code."""
    return Markup(re.sub(r"`([^`\n]+)`", r"<code>\1</code>", str(Markup.escape(text))))


def percent(share: Any) -> str:
    """Format a share as `evaluate` does; an en dash for None."""
    return whole_percent(share) if isinstance(share, (int, float)) else "–"
