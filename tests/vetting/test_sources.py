"""What arXiv, the ACL Anthology and GitHub answer, and what they answer when something is wrong."""

from __future__ import annotations

import json

import pytest

from lmr_author.authoring.vetting import vet as sources
from lmr_author.authoring.vetting.vet import Services
from lmr_author.core.paper.fetch import MOST_BYTES, SourceUnavailable, get
from tests.servers import Answer, serve

ATOM = b"""<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><entry>
<published>2023-05-29T17:57:46Z</published>
<arxiv:comment xmlns:arxiv="http://arxiv.org/schemas/atom">Accepted at ACL 2024</arxiv:comment>
<arxiv:journal_ref xmlns:arxiv="http://arxiv.org/schemas/atom">Proc. of ACL</arxiv:journal_ref>
<arxiv:primary_category xmlns:arxiv="http://arxiv.org/schemas/atom" term="cs.LG"/>
</entry></feed>"""
UNKNOWN = b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>Error</title></entry></feed>'
BIB = b"""@inproceedings{li-2024-wins,
    title = "Pairwise {W}ins",
    booktitle = "Proceedings of the 62nd Annual Meeting of the {ACL} (Volume 1)",
    year = "2024",
}"""
REPOSITORY = {
    "full_name": "o/r", "stargazers_count": 12, "open_issues_count": 30,
    "pushed_at": "2024-02-03T00:00:00Z", "archived": True, "fork": True, "license": {"spdx_id": "MIT"},
}  # fmt: skip


def answer(data: object) -> Answer:
    """A JSON answer."""
    return Answer(json.dumps(data).encode())


def test_arxiv_tells_dates_and_venue() -> None:
    with serve({"/api/query": Answer(ATOM)}) as address:
        found, evidence = sources.arxiv(Services(arxiv=address), "2305.18290v2")
    assert found.status == "answered"
    assert evidence == {
        "venue": ["arXiv, comment: Accepted at ACL 2024", "arXiv, journal: Proc. of ACL"],
        "year": ["arXiv: first submitted 2023-05-29"],
        "methodological_focus": ["arXiv subject: cs.LG"],
    }


def test_the_anthology_tells_the_volume() -> None:
    with serve({"/2024.acl-long.1.bib": Answer(BIB)}) as address:
        _, evidence = sources.anthology(Services(anthology=address), "2024.acl-long.1")
    volume = "ACL Anthology: Proceedings of the 62nd Annual Meeting of the ACL (Volume 1)"
    assert evidence == {"venue": [volume], "year": ["ACL Anthology: 2024"]}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("https://aclanthology.org/2024.acl-long.1.pdf", "2024.acl-long.1"),
        ("https://www.aclweb.org/anthology/P19-1001/", "P19-1001"),
        ("doi: 10.18653/v1/2022.findings-emnlp.12.", "2022.findings-emnlp.12"),
        ("https://arxiv.org/abs/2305.18290", ""),
    ],
)
def test_anthology_ids(text: str, wanted: str) -> None:
    assert sources.anthology_id("", text) == wanted


def test_github_tells_activity_and_licence() -> None:
    with serve({"/repos/o/r": answer(REPOSITORY)}) as address:
        services = Services(github=address)
        _, evidence = sources.github(services, "https://github.com/o/r.git")
    assert evidence["license"] == ["GitHub: MIT"]
    assert evidence["reproducibility"] == [
        "GitHub: last push 2024-02-03",
        "GitHub: archived, no longer maintained",
        "GitHub: it is a fork of another repository",
    ]


LIMITED = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000000"}


@pytest.mark.parametrize(
    ("said", "note"),
    [
        (Answer(b"{}", 403, LIMITED), "rate limit reached; again at 22:13 UTC"),
        (Answer(b"", 429, {"Retry-After": "17"}), "rate limit reached; again in 17 s"),
        (Answer(b"", 404), "not found (404)"),
        (Answer(b"", 500), "status 500 Internal Server Error"),
        (Answer(b"\xff\xfe garbage"), "the response is not JSON"),
        (Answer(b"[" * 100_000), "the response is not JSON"),
        (Answer(b'{"message": "hello"}'), "the response is not a repository"),
        (Answer(b"a" * (MOST_BYTES + 1)), "the response is larger than 2 MiB"),
        (Answer(b"{}", after=5), "no response within 0.5 s"),
    ],
)
def test_a_service_that_fails_is_a_note(said: Answer, note: str) -> None:
    with serve({"/repos/o/r": said}) as address:
        services = Services(github=address, seconds=0.5 if said.after else 10.0)
        found, evidence = sources.github(services, "https://github.com/o/r")
    assert (found.status, found.note, evidence) == ("failed", note, {})


@pytest.mark.parametrize(
    ("body", "note"),
    [
        (UNKNOWN, "paper not found"),
        (b"<html>", "the response is not an Atom feed"),
        (b'<!DOCTYPE x [<!ENTITY a "b">]>' + ATOM, "the response is not an Atom feed"),
    ],
)
def test_arxiv_answers_nonsense(body: bytes, note: str) -> None:
    with serve({"/api/query": Answer(body)}) as address:
        assert sources.arxiv(Services(arxiv=address), "1234.56789")[0].note == note


def test_nobody_there_is_a_note() -> None:
    found, _ = sources.anthology(Services(anthology="http://127.0.0.1:9"), "P19-1001")
    assert found.status == "failed" and found.note.startswith("cannot be reached")


@pytest.mark.parametrize("url", ["", "https://gitlab.com/o/r", "/local/folder", "https://github.com/only"])
def test_other_hosts_are_not_asked(url: str) -> None:
    assert sources.github(Services(github="http://127.0.0.1:9"), url)[0].status == "skipped"


def test_redirections_are_followed_but_not_for_ever() -> None:
    chain = {f"/{n}": Answer(status=302, headers={"Location": f"/{n + 1}"}) for n in range(7)}
    with serve(
        {**chain, "/7": Answer(b"here"), "/loop": Answer(status=301, headers={"Location": "/loop"})}
    ) as address:
        assert get(f"{address}/2").text == "here"
        for place in ("1", "loop"):
            with pytest.raises(SourceUnavailable, match="redirect"):
                get(f"{address}/{place}")
