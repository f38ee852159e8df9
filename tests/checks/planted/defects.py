"""One defect each, in more than one way, and what has to be found."""

from __future__ import annotations

from tests.checks.planted.good import BODY, COPY, GOAL, GOLDEN, MASKED, TEST
from tests.checks.planted.planting import (
    COMMENTS,
    FIRST_STEP,
    NOTEBOOK,
    Plant,
    append,
    body,
    compiled,
    empty_repository,
    first,
    other_line_endings,
    replace,
    test_at_the_top,
    write,
)

DEFECTS: dict[str, tuple[str, Plant]] = {
    "an empty category": ("LMR004", first(category="")),
    "nothing in the repository": ("LMR103", empty_repository),
    "the solution's bytecode": ("LMR401 LMR702", compiled(GOLDEN, "__pycache__/module.cpython-311.pyc")),
    "its bytecode beside the test": (
        "LMR401 LMR702",
        compiled(GOLDEN, "unit_test/__pycache__/golden.cpython-311.pyc"),
    ),
    "the mask's bytecode": ("LMR702", compiled(GOAL, "__pycache__/masked.cpython-39.pyc")),
    "not masked": ("LMR303", replace(GOAL, MASKED, BODY)),
    "half of the body": ("LMR309", replace(GOAL, MASKED, FIRST_STEP + MASKED)),
    "a bare return": ("LMR307", body("return hidden, scores")),
    "a bare return behind a comment": ("LMR307", body("# your code here\nreturn result")),
    "pass": ("LMR308", body("pass")),
    "other line endings": ("LMR311", other_line_endings),
    "a copy in another module": ("LMR403", write("beamtools/legacy/old_version.py", COPY)),
    "a copy in the build": ("LMR403 LMR702", write("beamtools/x.egg-info/module.py", COPY)),
    "the solution in a notebook": ("LMR403", write("beamtools/analysis/figures.ipynb", NOTEBOOK)),
    "the solution in comments": ("LMR404", replace(GOAL, MASKED, COMMENTS + MASKED)),
    "the image has everything": (
        "LMR202",
        replace("Dockerfile", "WORKDIR", "COPY . /workspace/all\nWORKDIR"),
    ),
    "another task's folder": ("LMR204", replace("Dockerfile", "ARG DIR=", "ARG DIR=the-")),
    "root": ("LMR209", append("Dockerfile", "USER root\n")),
    "the test is not in its folder": ("LMR511", test_at_the_top),
    "the test has a syntax error": (
        "LMR501",
        append(TEST, "def broken(:\n"),
    ),
}


DEFECTS |= {
    "a class for a plain function": ("LMR007", first(class_name="Beam")),
    "two with one number": ("LMR009", first(index=2)),
    "the same log": (
        "LMR514",
        replace("beamtools/unit_test/unit_test_2.py", "unit_test_2.log", "unit_test_1.log"),
    ),
    "no exit": ("LMR502", replace(TEST, "sys.exit(1)", "pass")),
    "exits with 0": ("LMR502", replace(TEST, "sys.exit(1)", "sys.exit(0)")),
    "no exit without a code": ("LMR502", replace(TEST, "sys.exit(1)", "sys.exit()")),
    "an except that goes on": (
        "LMR503",
        replace(
            TEST,
            "if run():",
            "try:\n    good = run()\n    assert good\nexcept Exception:\n    pass\nif run():",
        ),
    ),
    "expected values from another machine": (
        "LMR508",
        replace(
            TEST,
            "CASES = [",
            'import numpy as np\nTABLE = np.load("/home/student/beam/table.npy")\nCASES = [',
        ),
    ),
    "no COPY": ("LMR206", replace("Dockerfile", "COPY $DIR $DIR\n", "# COPY $DIR $DIR\n")),
    "both masked, one gutted": ("LMR304", replace(GOAL, "self.finished = []", "self.finished = None")),
    "the default changed": (
        "LMR306",
        replace(GOAL, "def length_penalty(length, alpha=0.6)", "def length_penalty(length, alpha=0.7)"),
    ),
}
