"""One defect each, in more than one way, and what has to be found."""

from __future__ import annotations

from tests.checks.planted.planting import (
    Plant,
    append,
    body,
    compiled,
    copied,
    empty_repository,
    first,
    half_masked,
    in_comments,
    in_docker,
    in_goal,
    in_notebook,
    masked_compiled,
    other_line_endings,
    replace,
    test_at_the_top,
    unmasked,
)

DEFECTS: dict[str, tuple[str, Plant]] = {
    "an empty category": ("LMR004", first(category="")),
    "nothing in the repository": ("LMR101 LMR103 LMR301 LMR501 LMR605", empty_repository),
    "the solution's bytecode": ("LMR401 LMR702", compiled("__pycache__/module.cpython-311.pyc")),
    "its bytecode beside the test": (
        "LMR401 LMR702",
        compiled("unit_test/__pycache__/golden.cpython-311.pyc"),
    ),
    "the mask's bytecode": ("LMR702", masked_compiled),
    "not masked": ("LMR303", unmasked),
    "half of the body": ("LMR309", half_masked),
    "a bare return": ("LMR307", body("return hidden, scores")),
    "a bare return behind a comment": ("LMR307", body("# your code here\nreturn result")),
    "pass": ("LMR308", body("pass")),
    "other line endings": ("LMR311", other_line_endings),
    "a copy in another module": ("LMR403", copied("legacy/old_version.py")),
    "a copy in the build": ("LMR403 LMR702", copied("x.egg-info/module.py")),
    "the solution in a notebook": ("LMR403", in_notebook),
    "the solution in comments": ("LMR404", in_comments),
    "the image has everything": ("LMR202", in_docker("WORKDIR", "COPY . /workspace/all\nWORKDIR")),
    "another task's folder": ("LMR204", in_docker("ARG DIR=", "ARG DIR=the-")),
    "root": ("LMR209", append("Dockerfile", "USER root\n")),
    "the test is not in its folder": ("LMR511", test_at_the_top),
    "the test has a syntax error": (
        "LMR501",
        lambda task, good: append(good.test, "def broken(:\n")(task, good),
    ),
}


BEAM = "beamtools/unit_test/unit_test_1.py"
DEFECTS |= {
    "a class for a plain function": ("LMR007", first(class_name="Beam")),
    "two with one number": ("LMR009", first(index=2)),
    "the same log": (
        "LMR514",
        replace("beamtools/unit_test/unit_test_2.py", "unit_test_2.log", "unit_test_1.log"),
    ),
    "no exit": ("LMR502", replace(BEAM, "sys.exit(1)", "pass")),
    "exits with 0": ("LMR502", replace(BEAM, "sys.exit(1)", "sys.exit(0)")),
    "no exit without a code": ("LMR502", replace(BEAM, "sys.exit(1)", "sys.exit()")),
    "an except that goes on": (
        "LMR503",
        replace(
            BEAM,
            "if run():",
            "try:\n    good = run()\n    assert good\nexcept Exception:\n    pass\nif run():",
        ),
    ),
    "expected values from another machine": (
        "LMR508",
        replace(
            BEAM,
            "CASES = [",
            'import numpy as np\nTABLE = np.load("/home/student/beam/table.npy")\nCASES = [',
        ),
    ),
    "no COPY": ("LMR206", in_docker("COPY $DIR $DIR\n", "# COPY $DIR $DIR\n")),
    "both masked, one gutted": ("LMR304", in_goal("self.finished = []", "self.finished = None")),
    "the default changed": (
        "LMR306",
        in_goal("def length_penalty(length, alpha=0.6)", "def length_penalty(length, alpha=0.7)"),
    ),
}
