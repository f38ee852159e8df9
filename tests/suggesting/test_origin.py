"""Copies of a library's files rank below what is new in a repository; what is new in a copy does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author import indexing
from lmr_author.suggesting import PaperText, rank
from lmr_author.suggesting.origin import Origin, Origins
from tests.suggesting.test_rank import PAPER

METHOD = '''\
class {name}:
    def forward(self, scores, labels, temperature=1.0):
        """The pairwise penalty of documents."""
        total, pairs = 0.0, 0
        for score, label in zip(scores, labels):
            if label > temperature:
                total += (score - label) / temperature
                pairs += 1
        return total / max(pairs, 1)
'''
COPIED = ("BertSelfAttention", "BertLayer", "BertForSequenceClassification", "ContextGate")


def repository(root: Path, **classes: tuple[str, ...]) -> indexing.Index:
    """An index of files (``a__b`` is ``a/b.py``) with classes."""
    for name, found in classes.items():
        path = root / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(METHOD.format(name=one) for one in found) or "VALUE = 1\n")
    return indexing.build(root)


def origin(index: indexing.Index, path: str, class_name: str, name: str = "ours") -> Origin | None:
    return Origins(index, name).of(path, class_name)


def test_a_file_with_a_librarys_classes_is_a_copy_as_a_whole(tmp_path: Path) -> None:
    index = repository(tmp_path, model__net=COPIED, model__loss=("PairLoss",))
    for name in COPIED:
        found = origin(index, "model/net.py", name)
        assert found == Origin(False, "its file is like transformers' own of Bert")
    assert origin(index, "model/net.py", "") is not None, "its functions, too"
    assert origin(index, "model/loss.py", "PairLoss") is None


@pytest.mark.parametrize(
    ("class_name", "adapted"),
    [
        ("BertSelfAttention", False),
        ("DebertaV2ForQuestionAnswering", False),
        ("XLMRobertaEncoder", False),
        ("PrunedBertSelfAttention", True),
        ("MyGPT2LMHeadModel", True),
        # Names of one's own, in the library's style.
        ("BertPrefixForQuestionAnswering", None),
        ("RobertaForContrast", None),
        ("BertForRanking", None),
        ("AlbertoLayer", None),
        ("Encoder", None),
        ("SelfAttention", None),
        ("Model", None),
        ("", None),
    ],
)
def test_one_class_is_told_by_its_name(tmp_path: Path, class_name: str, adapted: bool | None) -> None:
    index = repository(tmp_path, net=("PairLoss",))
    found = origin(index, "net.py", class_name)
    assert (found.adapted if found else None) is adapted


def test_a_file_named_as_the_librarys_is_adapted_at_least(tmp_path: Path) -> None:
    index = repository(tmp_path, modeling_bert=("Gate",), modeling_ranker=("Gate",), modeling_pairs_bert=())
    assert origin(index, "modeling_bert.py", "Gate") == Origin(
        True, "its file is named as transformers' own, modeling_bert.py"
    )
    assert origin(index, "modeling_ranker.py", "Gate") is None
    assert origin(index, "modeling_pairs_bert.py", "Gate", "pairs-of-bert") is None, (
        "named for the repository"
    )


def test_an_architecture_of_ones_own_is_no_copy(tmp_path: Path) -> None:
    classes = ("LongformerSelfAttention", "LongformerLayer", "LongformerModel")
    index = repository(tmp_path, longformer__longformer=classes, net__modeling_bert_of_ships=COPIED)
    assert origin(index, "longformer/longformer.py", classes[0], "longformer") is None
    assert origin(index, "longformer/longformer.py", classes[0], "other") is not None
    assert origin(index, "net/modeling_bert_of_ships.py", COPIED[0], "Bert-of-Ships") is None


def test_everything_in_a_copied_repository_is_its_projects(tmp_path: Path) -> None:
    index = repository(
        tmp_path, nlu__src__transformers__a=("A",), nlu__examples__fast__b=("B",), nlg__b=("B",),
        old__fairseq__a=("A",), old__setup=(), old__train=("T",), new__fairseq__a=("A",), new__train=("T",),
    )  # fmt: skip
    copied = {
        entry.path for entry in index.functions if Origins(index).of(entry.path, entry.class_name) is not None
    }
    assert copied == {
        "nlu/src/transformers/a.py", "nlu/examples/fast/b.py", "old/fairseq/a.py", "old/train.py", "new/fairseq/a.py"
    }  # fmt: skip
    found = origin(index, "nlu/examples/fast/b.py", "B")
    assert found is not None and found.reason == "it belongs to another project (nlu, a copy of transformers)"


def test_in_a_fork_not_everything_is_the_librarys(tmp_path: Path) -> None:
    index = repository(tmp_path, src__transformers__a=("A",), setup=(), train=("T",))
    assert origin(index, "train.py", "T") is None
    assert origin(index, "src/transformers/a.py", "A") is not None


def test_the_case_of_a_folder_does_not_matter(tmp_path: Path) -> None:
    index = repository(tmp_path, SentEval__a=("A",), CLIP__a=("A",))
    assert origin(index, "SentEval/a.py", "A") is not None
    assert origin(index, "CLIP/a.py", "A", "open-clip") is None


def test_copies_come_after_what_is_new(tmp_path: Path) -> None:
    index = repository(tmp_path, a__net=COPIED, b__net=("PrunedBertLayer",), c__net=("PairLoss",))
    found = rank(index, PaperText(PAPER), repository="ours")
    assert [item.entry.path for item in found] == ["c/net.py", "b/net.py", *["a/net.py"] * 4]
    assert "adapted from a library" in found[1].warnings and "another project's" in found[2].warnings
    assert found[2].to_json()["criteria"]["own"]["reason"] == "its file is like transformers' own of Bert"
