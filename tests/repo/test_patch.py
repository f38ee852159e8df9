"""A patch on the pinned commit: applied whole, inside the tree, or refused by file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.core.repo import CloneOptions, clone
from tests.gitrepos import commit, git, make_repository
from tests.repo.cloning import refused

CODE = """\
import sys


def main():
    total = 0
    for word in sys.argv:
        total += len(word)
    print(total)


main()
"""
PATCH = b"""\
--- a/run.py
+++ b/run.py
@@ -3,9 +3,14 @@

 def main():
+    print(count(sys.argv))
+
+
+def count(words):
     total = 0
-    for word in sys.argv:
+    for word in words:
         total += len(word)
-    print(total)
+    return total


-main()
+if __name__ == "__main__":
+    main()
""".replace(b"\n\n", b"\n \n")
NEW = "--- /dev/null\n+++ {}\n@@ -0,0 +1 @@\n+x = 1\n"
LINK = """\
diff --git a/l b/l
new file mode 120000
--- /dev/null
+++ b/l
@@ -0,0 +1 @@
+{}
\\ No newline at end of file
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "script", {"run.py": CODE, "README.md": "# Run\n"})


def test_a_patch_is_applied_to_the_commit(script: Path, tmp_path: Path) -> None:
    pinned = git(script, "rev-parse", "HEAD")
    commit(script, {"run.py": "print('rewritten')\n"})
    found = clone(str(script), pinned, tmp_path / "code", CloneOptions(patch=PATCH))
    text = (found.folder / "run.py").read_text()
    assert "def count(words):\n    total = 0\n" in text and text.endswith('"__main__":\n    main()\n')
    assert found.commit == pinned and not (found.folder / ".git").exists()


def test_it_is_applied_inside_another_repository(script: Path, tmp_path: Path) -> None:
    """There `git apply` would take the other repository's root and skip every file without a word."""
    around = make_repository(tmp_path / "set", {"README.md": "tasks\n"})
    found = clone(str(script), None, around / "tasks" / "code", CloneOptions(patch=PATCH))
    assert "def count(words):" in (found.folder / "run.py").read_text()
    assert found.notes == ()


def test_what_does_not_apply_is_named_by_file_and_line(script: Path, tmp_path: Path) -> None:
    commit(script, {"run.py": CODE.replace("len(word)", "len(word) + 1")})
    error = refused(script, tmp_path / "code", patch=PATCH)
    assert "run.py:3" in error.message and "git diff" in error.hint
    gone = PATCH.replace(b"run.py", b"gone.py")
    assert "gone.py" in refused(script, tmp_path / "code", patch=gone).message
    assert "No valid patches" in refused(script, tmp_path / "code", patch=b"no diff at all\n").message


@pytest.mark.parametrize(
    "path", ["b/../../evil.py", "b//tmp/evil.py", "b/.git/config", "b/out/evil.py", "b/l/evil.py"]
)
def test_a_patch_writes_nothing_outside_of_the_tree(path: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    script = make_repository(tmp_path / "script", {"run.py": CODE})
    (script / "out").symlink_to(tmp_path / "elsewhere")
    commit(script, {})
    patch = LINK.format(tmp_path / "elsewhere") if "/l/" in path else ""
    error = refused(script, tmp_path / "code", patch=(patch + NEW.format(path)).encode())
    assert "does not apply" in error.message
    assert not list((tmp_path / "elsewhere").iterdir()) and not list(tmp_path.rglob("evil.py"))


def test_a_link_that_a_patch_makes_is_removed_where_it_leads_out(script: Path, tmp_path: Path) -> None:
    patch = LINK.format("/etc").encode()
    found = clone(str(script), None, tmp_path / "code", CloneOptions(patch=patch))
    assert not (found.folder / "l").is_symlink()
    assert [(removed.path, removed.reason) for removed in found.removed] == [
        ("l", "symbolic link that leads outside the repository")
    ]
