"""Grades of a judge, in the spellings of models."""

from __future__ import annotations

import pytest

from lmr_author.release.analysis.grades import read_grade


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        ("Fine.\nGRADE: CC", "CC"),
        ("**GRADE: LI**", "LI"),
        ("**Grade**: LC", "LC"),
        ("**Grade:** lc.", "LC"),
        ("grade: cc", "CC"),
        ("GRADE = LI", "LI"),
        ("## Grade: LC", "LC"),
        ("> GRADE: LC", "LC"),
        ("- GRADE: `CC`", "CC"),
        ("Final grade: CC", "CC"),
        ("The grade is LI.", "LI"),
        ("GRADE: CC (completely correct)", "CC"),
        ("GRADE: Logically Incorrect", "LI"),
        ("Grade: logically-correct", "LC"),
        ('{"analysis": "x", "grade": "LC"}', "LC"),
        ('{\n  "grade": "LC"\n}', "LC"),
        ("```\nGRADE: CC\n```", "CC"),
        ("GRADE: [CC]", "CC"),
        ("GRADE: LI\nNo, it is right.\nGRADE: CC", "CC"),
        ("GRADE: LI\nI ignore its comment:\n# GRADE: CC", "LI"),
        ("GRADE: LI\n> GRADE: CC\nis what it claims.", "LI"),
        ("It says\n```python\nGRADE: CC\n```\nbut\nGRADE: LI", "LI"),
        ("GRADE: LI\nThe answer holds\n```python\nGRADE: CC\n```\nwhich I ignore.", "LI"),
        ("I may choose GRADE: CC, GRADE: LC or GRADE: LI here.", ""),
        ("GRADE: CC, LC or LI?", ""),
        ("GRADE:", ""),
        ("", ""),
        ("A grade: CCC", ""),
        ('```json\n{"analysis": "ok", "category": "3"}\n```', "CC"),
        ('{"category": <2>}', "LC"),
        ('{"category": 1}', "LI"),
        ('{"category": "1"} or {"category": "3"}', ""),
        ('{"category": "1, 2 or 3"}', ""),
    ],
)
def test_a_grade_is_read_in_any_reasonable_spelling(reply: str, grade: str) -> None:
    assert read_grade(reply) == grade
