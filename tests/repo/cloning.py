"""What a clone that is refused leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lmr_author.core.errors import LmrError
from lmr_author.core.repo import CloneOptions, clone


def refused(url: Path | str, into: Path, commit_id: str | None = None, **options: Any) -> LmrError:
    """The error of a clone that must fail, after checking that it left nothing."""
    with pytest.raises(LmrError) as caught:
        clone(str(url), commit_id, into, CloneOptions(**options))
    assert not into.exists()
    assert [path.name for path in into.parent.iterdir() if path.name.startswith(".clone-")] == []
    assert caught.value.hint
    return caught.value
