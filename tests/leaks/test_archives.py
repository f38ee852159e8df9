"""Archives: what is found in them, and what no archive can do to the search."""

from __future__ import annotations

import gzip
import io
import tarfile
import tracemalloc
import zipfile

from hypothesis import given, settings
from hypothesis import strategies as st

from lmr_author import leaks
from lmr_author.leaks import archives
from tests.leaks.functions import METRIC, wanted
from tests.leaks.places import in_tar_gz, in_zip


def _zip(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def _found(name: str, data: bytes) -> list[str]:
    return [leak.member for leak in leaks.in_file(name, data, [wanted(METRIC)])]


def test_members_are_read_and_archives_among_them_are_not_opened() -> None:
    inner = _zip({"a.py": METRIC.encode()})
    data = _zip({"b.py": b"y", "deep/inner.egg": inner, "folder/": b""})

    assert list(archives.members("all.zip", data)) == [("b.py", b"y"), ("deep/inner.egg", inner)]
    assert _found("all.zip", data) == []


def test_what_is_unpacked_is_bounded_however_small_the_archive_is() -> None:
    zeros = b"\0" * (archives.MAX_MEMBER - 1)
    bomb = _zip({f"{number}.txt": zeros for number in range(100)} | {"last.py": METRIC.encode()})
    assert len(bomb) < 1024 * 1024

    total = sum(len(content) for _, content in archives.members("bomb.zip", bomb))
    assert total <= archives.MAX_UNPACKED
    assert _found("bomb.zip", bomb) == []


def test_a_stream_that_expands_without_end_is_left() -> None:
    data = gzip.compress(b"\0" * (200 * 1024 * 1024), 1)
    tracemalloc.start()
    try:
        assert list(archives.members("big.tar.gz", data)) == []
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 32 * 1024 * 1024


def test_links_and_names_that_lead_outside_are_only_names() -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        link = tarfile.TarInfo("link.py")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        info = tarfile.TarInfo("../../outside.py")
        info.size = len(METRIC)
        archive.addfile(info, io.BytesIO(METRIC.encode()))

    assert _found("a.tar", buffer.getvalue()) == ["../../outside.py"]


WHOLE = [plant(METRIC) for plant in (in_zip, in_tar_gz)]
"""Made once: an archive holds the time at which it was made, and hypothesis repeats itself."""


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(WHOLE), st.data())
def test_damaged_archives_never_do_more_than_hide_something(
    whole: tuple[str, bytes], data: st.DataObject
) -> None:
    name, content = whole
    raw = bytearray(content)
    for _ in range(data.draw(st.integers(1, 6))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(raw)))

    for leak in leaks.in_file(name, bytes(raw[:cut]), [wanted(METRIC)]):
        assert leak.path == name
