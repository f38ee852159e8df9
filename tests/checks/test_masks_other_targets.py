"""Masks of several implementations, of classes, and what stands elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

from lmr_author.validation.run import validate
from tests import example as example_texts
from tests.checks.masked import TEST, body, write


def test_a_class_without_a_class_name_is_ambiguous(tmp_path: Path) -> None:
    task = write(tmp_path, body("raise NotImplementedError"), class_name="")

    findings = validate([task]).findings

    assert [one.code for one in findings] == ["LMR007"]
    assert "Encoder" in findings[0].message and "ContrastiveLoss" in findings[0].message


def test_a_class_as_target_is_named_and_its_masked_method_still_checked(tmp_path: Path) -> None:
    task = write(tmp_path, body("return losses"), goal_function="ContrastiveLoss", class_name="")

    assert sorted(one.code for one in validate([task]).findings) == ["LMR007", "LMR307"]


def test_two_implementations_of_one_file_are_each_others_target(tmp_path: Path) -> None:
    goal = body("raise NotImplementedError").replace(
        "        return self.linear(tokens)", "        raise NotImplementedError"
    )
    task = write(tmp_path, goal)
    repository = task.root / example_texts.REPOSITORY
    info = task.load_raw()
    second = info["implementations"][0] | {
        "index": 2,
        "class_name": "Encoder",
        "instruction": "Implement `Encoder.forward` in `ranking/losses.py`, section 2 of the paper; return it.",
        "unit_test_file": "unit_test/unit_test_2.py",
        "golden_file": "golden_files/losses_2_golden.py",
    }
    info["implementations"].append(second)
    task.info_path.write_text(json.dumps(info))
    (repository / "unit_test" / "unit_test_2.py").write_text(
        TEST.replace("ContrastiveLoss()", "Encoder(3)").replace("ContrastiveLoss", "Encoder")
    )
    # The second golden was saved when the first target was masked already.
    (task.root / "golden_files" / "losses_2_golden.py").write_text(body("raise NotImplementedError"))

    assert validate([task]).findings == ()


def test_names_that_a_star_import_may_bring_are_not_called_undefined(tmp_path: Path) -> None:
    goal = body("return loss_of_the_helpers(anchors, positives)")

    assert [one.code for one in validate([write(tmp_path, goal)]).findings] == ["LMR310"]


def test_a_function_that_shares_a_third_of_the_statements_is_no_copy(tmp_path: Path) -> None:
    task = write(tmp_path, body("raise NotImplementedError"))
    other = task.root / example_texts.REPOSITORY / "ranking" / "other.py"
    other.write_text(
        "import torch\nimport torch.nn.functional as F\nfrom ranking.losses import cosine\n\n\n"
        "def retrieval_accuracy(anchors, positives, temperature):\n"
        "    similarity = cosine(anchors.unsqueeze(1), positives.unsqueeze(0)) / temperature\n"
        "    targets = torch.arange(similarity.size(0), device=similarity.device)\n"
        "    return (similarity.argmax(1) == targets).float().mean()\n"
    )

    assert validate([task]).findings == ()


def test_python_2_is_only_noted(tmp_path: Path) -> None:
    old = 'def loss(a, b):\n    print "loss", a\n    return a - b\n'
    task = write(
        tmp_path,
        old.replace("    return a - b", "    raise NotImplementedError"),
        goal_function="loss",
        class_name="",
        instruction="Implement the function `loss` in `ranking/losses.py` of the paper.",
    )
    (task.root / "golden_files" / "losses_golden.py").write_text(old)

    findings = validate([task]).findings

    assert {(one.code, one.severity.value) for one in findings} == {("LMR312", "note")}
