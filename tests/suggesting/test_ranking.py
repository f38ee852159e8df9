"""Ranking: the function that a paper is about comes first, and every reason can be read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lmr_author.authoring.suggesting import PaperText, Suggestion, rank, suggest_repository
from lmr_author.authoring.suggesting.criteria import Prospect, originality
from lmr_author.authoring.suggesting.paper import Description, identifier_terms
from lmr_author.core import indexing
from lmr_author.core.errors import LmrError
from tests.support import write_files

PAPER = {
    "1": "Margin Ranking with Soft Penalties (MRSP). We rank documents by a pairwise penalty.",
    "2": "The pairwise penalty of two documents is the logistic function of the score difference, scaled by the "
    "temperature. Penalties of all ordered pairs are averaged. Pairs with equal relevance labels are left out.",
    "3": "References\nPenalty shootouts and other stories of the optimizer.",
}

LOSSES = '''\
import math


def pairwise_penalty(scores, labels, temperature=1.0):
    """Average the logistic penalty of all ordered pairs of documents."""
    total, pairs = 0.0, 0
    for score, label in zip(scores, labels):
        for other_score, other_label in zip(scores, labels):
            if label > other_label:
                difference = (score - other_score) / temperature
                total += math.log1p(math.exp(-difference))
                pairs += 1
    return total / max(pairs, 1)


def read_lines(path):
    with open(path) as file:
        lines = []
        for line in file:
            lines.append(line.strip())
    return lines


def scale_(gradients, temperature):
    norm = sum(value * value for value in gradients)
    if norm > temperature:
        gradients.mul_(temperature / norm)
        gradients.clamp_(-1, 1)


def report(gradients, temperature):
    norm = sum(value * value for value in gradients)
    if norm > temperature:
        print(temperature / norm)
        print(norm)


def one():
    return 1
'''
TRAIN = """\
from losses import pairwise_penalty, read_lines, scale_, report

pairwise_penalty([1.0], [1])
read_lines("x")
scale_([], 1.0)
report([], 1.0)
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return write_files(tmp_path, {"losses.py": LOSSES, "train.py": TRAIN})


def ranked(folder: Path, paper: dict[str, str] | None = None, **options: object) -> dict[str, Suggestion]:
    index = indexing.build(folder)
    found = rank(index, PaperText.from_json(PAPER if paper is None else paper), **options)  # type: ignore[arg-type]
    assert [item.rank for item in found] == list(range(1, len(found) + 1))
    assert [item.score for item in found] == sorted((item.score for item in found), reverse=True)
    return {item.target: item for item in found}


def test_what_the_paper_describes_comes_first_with_its_terms_and_pages(repository: Path) -> None:
    first = next(iter(ranked(repository).values()))
    assert first.target == "losses.py::pairwise_penalty"
    assert first.score == 100.0 and first.warnings == ()
    assert first.description.pages[0] == 2
    terms = {item.term: item.pages for item in first.description.matches}
    assert terms["pairwise penalty"] == (1, 2)  # once on each, and not in the references
    assert "called 1 time by name: train.py" in [item.sentence for item in first.judgements]


def test_each_reason_against_a_function(repository: Path) -> None:
    found = ranked(repository)
    assert found["losses.py::one"].warnings[:2] == ("not in the paper", "trivial")
    assert "never called" in found["losses.py::one"].warnings
    assert "reads or writes files" in found["losses.py::read_lines"].warnings
    assert "returns nothing" in found["losses.py::report"].warnings
    assert "returns nothing" not in found["losses.py::scale_"].warnings, "it works in place"


def test_files_numbers_and_masked_functions(repository: Path) -> None:
    masked = {("losses.py", "pairwise_penalty"): 3}
    assert ranked(repository, masked=masked)["losses.py::pairwise_penalty"].masked == 3
    assert len(ranked(repository, top=2)) == 2
    assert ranked(repository, globs=("train*.py",)) == {}
    write_files(
        repository, {"own/net.py": "def f(x):\n    return x\n", "owner.py": "def g(x):\n    return x\n"}
    )
    assert (
        set(ranked(repository, globs=("own",)))
        == set(ranked(repository, globs=("own/",)))
        == {"own/net.py::f"}
    )
    entry = ranked(repository, top=1)["losses.py::pairwise_penalty"].to_json()
    assert (entry["rank"], entry["path"], entry["pages"][0]) == (1, "losses.py", 2)


def test_files_that_were_not_read_are_named_where_they_match(repository: Path) -> None:
    write_files(repository, {"bad/a.py": "def f(:\n", "own/a.py": "x = 1\n"})
    with pytest.raises(LmrError) as caught:
        suggest_repository(repository, None, globs=("own",))
    assert caught.value.message == "no function in a file that matches own"
    with pytest.raises(LmrError, match=r"matches bad \(not read: bad/a\.py"):
        suggest_repository(repository, None, globs=("bad",))


@pytest.mark.parametrize("paper", [{}, {"1": ""}, {"x": "y"}, {"1": "the of and"}])
def test_a_paper_that_says_nothing(repository: Path, paper: dict[str, str]) -> None:
    found = ranked(repository, paper)
    assert len(found) == 5 and found["losses.py::pairwise_penalty"].rank == 1


def test_acronyms_and_names_of_the_paper_are_words_of_the_code() -> None:
    paper = PaperText({1: "We use Direct Preference Optimization (DPO) with LoRA."})
    for identifier in ("dpo_loss", "LoRALayer", "lora_A", "preference_optim"):
        assert set(identifier_terms(identifier)) & set(paper.query), identifier


def test_references_are_no_text_of_the_paper_on_whichever_page_they_end() -> None:
    paper = PaperText(
        {
            1: "We rank.\n7 References\nA. Smith, B. Jones. Penalties of\na linear kind. In ACL, 2019.",
            2: "C. Doe. Temperature.\nA Proof of Theorem 1\nThe margin holds.\nReferences\nAnother temperature.",
            3: "Distillation of documents.\nSupplementary Material\nEntropy.",
        }
    )
    assert [" ".join(text.split()) for text in paper.own_text.values()] == [
        "We rank.",
        "The margin holds.",
        "Entropy.",
    ]
    assert {"temperatur", "distil"}.isdisjoint(paper.query)


def test_what_cannot_run_in_a_test_moves_down_and_says_why(tmp_path: Path) -> None:
    body = "    total = 0\n    for score in scores:\n        total += score\n    return total / len(scores)\n"
    parse = "import argparse\np = argparse.ArgumentParser()\np.add_argument('data')\nargs = p.parse_args()\n"
    files = {
        "a.py": "def pairwise_penalty(scores):\n" + body.replace("in scores:", "in xrange(3):"),
        "b.py": f"{parse}def ranking_penalty(scores):\n{body}",
        "c.py": "def score_penalty(scores):\n    raise NotImplementedError\n",
    }
    golden = {"c.py": f"def score_penalty(scores):\n{body}".encode()}
    found = rank(indexing.build(write_files(tmp_path, files), instead=golden), PaperText.from_json(PAPER))
    assert found[0].entry.path == "c.py", "the golden counts, not the mask"
    said = {item.entry.path: item for item in found}
    assert "cannot run in a test" in said["a.py"].warnings and "cannot run in a test" in said["b.py"].warnings
    runs = {path: item.to_json()["criteria"]["runs"]["reason"] for path, item in said.items()}
    assert runs["a.py"] == "it, or a function of its file that it calls, uses xrange, which Python 3 lacks"
    assert runs["b.py"].endswith("reads the command line when it is imported (line 4) and requires data")
    assert runs["c.py"].startswith("no obstacle")


def test_a_file_that_runs_its_program_is_marked_and_comes_below_its_copy_with_a_guard(tmp_path: Path) -> None:
    body = "def pairwise_penalty(scores):\n    total = 0\n    for score in scores:\n        total += score\n"
    main = "    return total\n\ndef parse_args():\n    return parser.parse_args()\n\n\ndef evaluate(a):\n    a\n\n\n"
    guarded = 'if __name__ == "__main__":\n    evaluate(parse_args())\n'
    files = {
        "a.py": f"{body}{main}evaluate(parse_args())\n",
        "b/b.py": f"{body}{main}{guarded}".replace("total", "tally"),
    }
    found = {
        item.target: item
        for item in rank(indexing.build(write_files(tmp_path, files)), PaperText.from_json(PAPER))
    }
    bad, good = found["a.py::pairwise_penalty"], found["b/b.py::pairwise_penalty"]
    assert (
        "its file runs when imported" in bad.warnings and "its file runs when imported" not in good.warnings
    )
    assert bad.score < good.score / 2


METHOD = '''\
class A:
    def forward(self, scores, labels, temperature=1.0):
        """The pairwise penalty of documents."""
        total, pairs = 0.0, 0
        for score, label in zip(scores, labels):
            if label > temperature:
                total += (score - label) / temperature
                pairs += 1
        return total / max(pairs, 1)
'''


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        ("losses.py", "ours", 1.0),
        ("vendor/a.py", "ours", 0.4),
        ("src/transformers/a.py", "ours", 0.4),
        ("src/transformers/a.py", "transformers", 1.0),
    ],
)
def test_code_of_another_project_is_told_by_its_names(path: str, name: str, value: float) -> None:
    entry = replace(indexing.read("a.py", b"def f(): pass")[0][0], path=path)
    found = originality(Prospect(entry, indexing.Index((), (), (), {}), Description(1.0), name))
    assert found.value == value


def test_code_of_other_projects_comes_after_what_is_new(tmp_path: Path) -> None:
    paths = ["tests/a.py", "vendor/net.py", "c/net.py"]
    sources = {path: METHOD.replace("class A", f"class A{number}") for number, path in enumerate(paths)}
    index = indexing.build(write_files(tmp_path, sources))
    ranked = rank(index, PaperText.from_json(PAPER), repository="ours")
    assert [suggestion.entry.path for suggestion in ranked] == paths[::-1]
    assert "another project's" in ranked[1].warnings


@pytest.mark.parametrize(
    ("init", "first"), [("own/__init__.py", "own/net.py"), ("fairseq/__init__.py", "examples/net.py")]
)
def test_a_package_comes_before_examples_beside_it(tmp_path: Path, init: str, first: str) -> None:
    """A vendored fairseq/ is no package of its own: there the method is in examples/."""
    package = init.rpartition("/")[0]
    example = METHOD.replace("of documents", "of documents by temperature")
    write_files(
        tmp_path, {init: "", f"{package}/net.py": METHOD, "examples/net.py": example.replace("A", "B", 1)}
    )
    found = rank(indexing.build(tmp_path), PaperText.from_json(PAPER))
    assert found[0].entry.path == first
    assert ("an example" in found[-1].warnings) == (package == "own")


def test_a_word_that_its_capitals_divide_is_shown_as_the_paper_writes_it() -> None:
    paper = PaperText({1: "LoRA and RoBERTa use a LowRank matrix of low rank."})
    terms = ("lora", "lo ra", "ro ber", "low rank")
    assert [paper.spelled(term) for term in terms] == ["LoRA", "LoRA", "RoBERTa", "low rank"]


def test_the_same_function_in_several_files_is_one_suggestion(tmp_path: Path) -> None:
    score = (
        "def score(texts, weights, scale=2.0):\n"
        "    total = 0.0\n"
        "    for text, weight in zip(texts, weights):\n"
        "        total += weight * len(text)\n"
        "    mean = total / len(texts)\n"
        "    return scale * mean\n"
    )
    small = "def double(x):\n    return 2 * x\n"
    write_files(
        tmp_path,
        {
            "task_a/deep/score.py": score,
            "score.py": score + small,
            "task_b/score.py": score,
            "other.py": small,
        },
    )
    ranked = rank(indexing.build(tmp_path), PaperText({}))
    copies = {suggestion.target: suggestion.copies for suggestion in ranked}
    assert copies == {
        "score.py::score": ("task_b/score.py::score", "task_a/deep/score.py::score"),
        "score.py::double": (),
        "other.py::double": (),
    }
    masked = rank(indexing.build(tmp_path), PaperText({}), masked={("task_b/score.py", "score"): 1}, top=1)
    assert [suggestion.target for suggestion in masked] == ["task_b/score.py::score"]
    assert masked[0].copies[0] == "score.py::score"


def test_a_longer_version_of_a_function_comes_before_the_one_that_it_grew_from(tmp_path: Path) -> None:
    body = "    ratio = policy - reference\n    margin = ratio * beta\n    loss = hinge(margin).mean()\n"
    older = f"def score(policy, reference, beta):\n{body}    return loss\n"
    extra = "    cached = table.lookup(beta)\n    table.update(cached, beta)\n    shape = cached.shape\n" * 3
    newer = f"def score(policy, reference, beta):\n{body}{extra}    return loss\n"
    use = "from new import score\n\nprint(score(1, 2, 3))\n"
    files = {"a_old.py": older, "new.py": newer, "use.py": use, "other.py": "def other(x):\n    return x\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    paper = PaperText({1: "We score the margin of policy and reference by a hinge loss with a ratio beta."})

    targets = [suggestion.target for suggestion in rank(indexing.build(tmp_path), paper)]

    assert targets.index("new.py::score") < targets.index("a_old.py::score")


def test_a_repository_of_notebooks_says_what_to_do(tmp_path: Path) -> None:
    repository = write_files(tmp_path, {"train.ipynb": "{}"})
    with pytest.raises(LmrError, match="no function in") as caught:
        suggest_repository(repository, None)
    assert "1 notebook not read (train.ipynb): `jupyter nbconvert" in caught.value.hint
    write_files(repository, {"old.py": "print 'x'\n", "new.py": LOSSES})
    assert any("Python 2 (old.py)" in note for note in suggest_repository(repository, None).notes)
