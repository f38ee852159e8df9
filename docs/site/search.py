"""A hook of MkDocs: the reference comes first in the search, decisions come last."""

from typing import Any

BOOSTS = {"docs/commands/": 20.0, "docs/checks/": 3.0, "docs/decisions/": 0.2}


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    for folder, boost in BOOSTS.items():
        if page.file.src_uri.startswith(folder):
            page.meta["search"] = {"boost": boost}
    return markdown
