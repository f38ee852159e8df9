"""One defect each, in more than one way, and what has to be found."""

from __future__ import annotations

from tests.checks.planted.planting import (
    POINTER,
    Plant,
    add,
    another_function_tested,
    append,
    asked,
    body,
    compiled,
    copied,
    empty_repository,
    first,
    fixture_outside,
    half_masked,
    history,
    in_comments,
    in_docker,
    in_goal,
    in_notebook,
    in_readme,
    info,
    masked_compiled,
    other_line_endings,
    remove,
    rename_key,
    replace,
    test_at_the_top,
    unmasked,
)

EVERYWHERE: dict[str, tuple[str, Plant]] = {
    "retrieval_content": ("LMR003", rename_key("retrieval_context", "retrieval_content")),
    "no category": ("LMR004", first(category=None)),
    "an empty category": ("LMR004", first(category="")),
    "a category in other words": ("LMR004", first(category="loss function")),
    "a category with more words": ("LMR004", first(category="Training Objectives & Optimization Techniques")),
    "the id as text": ("LMR005", info(instance_id="2")),
    "the id of another folder": ("LMR005", info(instance_id=71)),
    "no folder_name": ("LMR006", info(folder_name=None)),
    "folder_name misspelt": ("LMR006", info(folder_name="2-Token_Contrast")),
    "no goal function": ("LMR007", first(goal_function=None)),
    "the golden has another name": ("LMR302", first(golden_file="golden_files/original.py")),
    "the test has another name": ("LMR501", first(unit_test_file="unit_test/test_1.py")),
    "the goal file is elsewhere": (
        "LMR301",
        first(goal_file="lib/code.py", instruction="Implement the target as the paper says."),
    ),
    "a retrieval path that is not there": ("LMR605", first(retrieval_context=["models/pooler.py"])),
    "the test is the goal file": ("LMR510", first(goal_file="unit_test/unit_test_1.py")),
    "no PDF": ("LMR101", remove("paper.pdf")),
    "no text of the paper": ("LMR101", remove("paper.json")),
    "a web page for the PDF": ("LMR102", add("paper.pdf", "<html><body>403 Forbidden</body></html>")),
    "nothing in the repository": ("LMR101 LMR103 LMR301 LMR501 LMR605", empty_repository),
    "a large file that stayed in LFS": ("LMR104", add("checkpoints/model.safetensors", POINTER)),
    "a fixture that stayed in LFS": ("LMR104", add("unit_test/data/batch.pt", POINTER)),
    "the solution's bytecode": ("LMR401 LMR702", compiled("__pycache__/module.cpython-311.pyc")),
    "its bytecode beside the test": (
        "LMR401 LMR702",
        compiled("unit_test/__pycache__/golden.cpython-311.pyc"),
    ),
    "the mask's bytecode": ("LMR702", masked_compiled),
    "a finder file": ("LMR701", add("data/.DS_Store", b"\0\0\0\1Bud1")),
    "an editor's folder": ("LMR701", add(".vscode/settings.json", "{}\n")),
    "a backup": ("LMR701", add("notes.txt.orig", "notes\n")),
    "pytest's cache": ("LMR702", add(".pytest_cache/CACHEDIR.TAG", "Signature\n")),
    "the golden's verdict": ("LMR703", add("unit_test/logs/unit_test_1.log", "INFO:root:Passed\n")),
    "not masked": ("LMR303", unmasked),
    "half of the body": ("LMR309", half_masked),
    "a bare return": ("LMR307", body("return hidden, scores")),
    "a bare return behind a comment": ("LMR307", body("# your code here\nreturn result")),
    "pass": ("LMR308", body("pass")),
    "an ellipsis": ("LMR308", body('"""Write this."""\n...')),
    "None set and returned": ("LMR308", body("value = None\nreturn value")),
    "printed and zero returned": ("LMR308", body("print('not implemented')\nreturn 0.0")),
    "another exception": ("LMR310", body("raise Exception('todo')")),
    "other line endings": ("LMR311", other_line_endings),
    "a copy in another module": ("LMR403", copied("legacy/old_version.py")),
    "a copy in an output folder": ("LMR403", copied("runs/2021-03-01/code/module.py")),
    "a copy in the build": ("LMR403 LMR702", copied("x.egg-info/module.py")),
    "a copy under another ending": ("LMR403", copied("legacy/module.txt")),
    "the solution in a notebook": ("LMR403", in_notebook),
    "the solution in a text": ("LMR403", in_readme),
    "the solution in comments": ("LMR404", in_comments),
    "a history": ("LMR402", history),
    "a golden in the repository": ("LMR405", copied("golden_files/solution.py")),
    "the image has everything": ("LMR202", in_docker("WORKDIR", "COPY . /workspace/all\nWORKDIR")),
    "the image has the goldens": ("LMR202", in_docker("WORKDIR", "COPY golden_files /opt/checks\nWORKDIR")),
    "an unquoted lower bound": ("LMR203", in_docker("USER ", "RUN pip install einops>=0.6\nUSER ")),
    "an unquoted upper bound": ("LMR203", in_docker("USER ", "RUN pip3 install scipy<1.12\nUSER ")),
    "another task's folder": ("LMR204", in_docker("ARG DIR=", "ARG DIR=the-")),
    "a requirements file that is not there": (
        "LMR205",
        in_docker("USER ", "RUN pip install -r extra_requirements.txt\nUSER "),
    ),
    "a COPY of nothing": ("LMR205", in_docker("USER ", "COPY weights/ /weights/\nUSER ")),
    "one package without a version": ("LMR207", in_docker("USER ", "RUN pip install rouge-score\nUSER ")),
    "plain Python": ("LMR208", in_docker("pytorch/pytorch:", "python:3.10-slim-")),
    "root": ("LMR209", append("Dockerfile", "USER root\n")),
    "a model in the image": (
        "LMR210",
        in_docker(
            "USER ",
            "RUN python -c \"from transformers import AutoModel; AutoModel.from_pretrained('gpt2')\"\nUSER ",
        ),
    ),
    "data in the image": ("LMR210", in_docker("USER ", "RUN python -m nltk.downloader punkt\nUSER ")),
    "no Dockerfile": ("LMR201", lambda task, good: (task.root / "Dockerfile").unlink()),
    "no instruction": ("LMR601", first(instruction="TODO")),
    "a file that is not there": (
        "LMR602",
        asked("Implement the target; its helpers are in utils/helper_functions.py."),
    ),
    "the test in place of the goal": (
        "LMR602",
        asked("Please complete the target in unit_test/unit_test_1.py as described."),
    ),
    "the paper misspelt": (
        "LMR602",
        asked("Implement what section 3 of papre.pdf says about the target."),
    ),
    "a function that is not there": (
        "LMR603",
        first(instruction="Implement the function `compute_token_scores` as section 3 says."),
    ),
    "pass the test": (
        "LMR604",
        asked("Implement the target of section 3. All the unit tests must pass."),
    ),
    "print Passed": (
        "LMR604",
        asked("Implement the target of section 3 so that it passes the test in unit_test."),
    ),
    "the test is not in its folder": ("LMR511", test_at_the_top),
    "the test has a syntax error": (
        "LMR501",
        lambda task, good: append(good.test, "def broken(:\n")(task, good),
    ),
}
"""Name → (codes that are found and no others, how it is planted); planted in each of the good tasks."""

TOKEN = "token-contrast/unit_test/unit_test_1.py"
BEAM = "beamtools/unit_test/unit_test_1.py"
IMPORT = "from token_contrast.losses import TokenContrast\n\n"
SHAPE = "    assert loss.shape == ()\n"
DOCSTRING = '''\
        """Loss of a batch.

        Args:
            anchors, positives: (batch, tokens, size).
            mask: (batch, tokens), 1 for real tokens.
        """
'''
WRITES_VALUES = """\
import json
if not os.path.exists("unit_test/values.json"):
    json.dump([decode.length_penalty(3)], open("unit_test/values.json", "w"))
VALUES = json.load(open("unit_test/values.json"))


"""
CLOSE = '    assert torch.allclose(loss, torch.tensor(case["loss"]), atol=1e-5)\n'

IN_TOKEN_CONTRAST: dict[str, tuple[str, Plant]] = {
    "the class for the method": ("LMR007", first(goal_function="TokenContrast", class_name="TokenContrast")),
    "no class, and two have the method": ("LMR007", first(class_name="")),
    "two functions in one": ("LMR007 LMR303", first(goal_function="forward, accuracy", class_name="")),
    "the docstring went, too": (
        "LMR305",
        in_goal(
            DOCSTRING,
            "",
        ),
    ),
    "a parameter went": ("LMR306", in_goal("positives, mask=None", "positives")),
    "a helper is gutted": ("LMR304", in_goal("hits.float().mean().item()", "None")),
    "a print was added": (
        "LMR304",
        in_goal("    def forward(self, anchors", '    print("loaded")\n\n    def forward(self, anchors'),
    ),
    "the package is installed": (
        "LMR406",
        in_docker("USER student", "RUN pip install tokencontrast==0.3\nUSER student"),
    ),
    "the original is cloned": (
        "LMR406",
        in_docker(
            "USER student", "RUN git clone https://example.org/code/token-contrast /opt/x\nUSER student"
        ),
    ),
    "pytest is never started": ("LMR502", replace(TOKEN, "    sys.exit(int(code))\n", "")),
    "the shape only": ("LMR502", replace(TOKEN, SHAPE + CLOSE, "    print(loss.shape)\n")),
    "printed": ("LMR502", replace(TOKEN, SHAPE + CLOSE, CLOSE.replace("assert ", "print(").rstrip() + ")\n")),
    "an except around it": (
        "LMR503",
        replace(
            TOKEN,
            SHAPE + CLOSE,
            "    try:\n    " + CLOSE + "    except AssertionError:\n        print('Failed')\n",
        ),
    ),
    "the loss with itself": ("LMR504", replace(TOKEN, 'torch.tensor(case["loss"])', "loss.detach()")),
    "the golden is imported": (
        "LMR505",
        replace(
            TOKEN, IMPORT, 'sys.path.insert(0, "golden_files")\nfrom losses_golden import TokenContrast\n\n'
        ),
    ),
    "another function is tested": ("LMR506", another_function_tested),
    "other markers": (
        "LMR507",
        replace(TOKEN, '"Passed\\n" if code == 0 else "Failed\\n"', '"ok\\n" if code == 0 else "wrong\\n"'),
    ),
    "a fixture is missing": ("LMR508", remove("unit_test/batches.json")),
    "a GPU": ("LMR509", replace(TOKEN, 'case["symmetric"])\n', 'case["symmetric"]).to("cuda")\n')),
    "a model": (
        "LMR509",
        replace(
            TOKEN,
            "CASES = json",
            'from transformers import BertModel\nBERT = BertModel.from_pretrained("bert-base-uncased")\nCASES = json',
        ),
    ),
    "a fixture outside": ("LMR511", fixture_outside),
}

IN_BEAMTOOLS: dict[str, tuple[str, Plant]] = {
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
