"""LMR508, 509, 512, 513: what a unit test needs and leaves behind."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

from lmr_author.checks.base import Check, Example, ImplementationCheck, TaskView
from lmr_author.checks.example_task import REPOSITORY, UNIT_TEST
from lmr_author.checks.lookup import did_you_mean, is_file, pair, unit_test_path
from lmr_author.checks.reading import HOME, FileUse, Reading, dotted, reading
from lmr_author.files import sha256_bytes, sha256_file
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.recorded import SUPPORT
from lmr_author.source import FunctionNode

TEST = f"{REPOSITORY}/unit_test/unit_test_1.py"
RECORDING = f"{REPOSITORY}/unit_test/recordings/1"
_NETWORK = frozenset(
    [
        "requests.get",
        "requests.post",
        "urllib.request.urlopen",
        "urlopen",
        "urlretrieve",
        "urllib.request.urlretrieve",
        "httpx.get",
        "httpx.post",
        "wget.download",
        "gdown.download",
        "snapshot_download",
        "hf_hub_download",
        "nltk.download",
        "torch.hub.load",
        "openai.OpenAI",
        "OpenAI",
        "openai.ChatCompletion.create",
        "anthropic.Anthropic",
        "spacy.load",
        "gensim.downloader.load",
        "load_dataset",
        "datasets.load_dataset",
        "SentenceTransformer",
    ]
)
_CUDA = re.compile(r"^cuda(:\d+)?$")


def _loading(path: str, name: str = "EXPECTED") -> str:
    return UNIT_TEST.replace("import logging\n", "import json\nimport logging\n").replace(
        "LOGS = os", f"{name} = json.load(open({path}))\nLOGS = os"
    )


class FixturesExist(ImplementationCheck):
    """LMR508."""

    code = "LMR508"
    title = "the files that the test reads are in the task"
    rationale = (
        "A fixture that stayed on the annotator's machine, or whose path holds only there, makes the test"
        " fail for everybody else."
    )
    failing = (
        Example("a missing fixture", files={TEST: _loading("os.path.join(HERE, 'expected.json')")}),
        Example(
            "a path of another machine",
            files={TEST: _loading("'/home/me/margin-ranking/unit_test/expected.json'")},
        ),
    )
    passing = (
        Example(
            "it is there",
            files={
                TEST: _loading("os.path.join(HERE, 'expected.json')"),
                f"{REPOSITORY}/unit_test/expected.json": "[1.06]\n",
            },
        ),
        Example(
            "the path that the harness mounts",
            files={TEST: _loading("'/workspace/margin-ranking/paper.json'")},
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each missing file."""
        path = unit_test_path(view, implementation)
        test = reading(view, path)
        if test is None or path is None or view.repository is None:
            return
        written = {use.name for use in test.uses if use.writes}
        known = view.memo("names", lambda: {entry.name for entry in view.repository_entries})
        said: set[str] = set()
        for use in test.uses:
            if use.writes or use.name in written or use.path in said or not _is_data(use.name):
                continue
            if self._there(view, use, known):
                continue
            said.add(use.path)
            files = [view.in_repository(entry) for entry in view.repository_entries if entry.kind == "file"]
            shown = use.path.removeprefix(f"{HOME}/").removeprefix("?/")
            outside = shown.startswith(("/", ".."))
            yield self.finding(
                view,
                f"reads {shown}, which is {'outside of the task' if outside else 'not there'}",
                did_you_mean(shown, files, 0.75)
                or "store it in unit_test/, and name it relative to the test's own folder",
                implementation=implementation,
                path=path,
                pointer=f"L{use.line}",
            )

    @staticmethod
    def _there(view: TaskView, use: FileUse, known: set[str]) -> bool:
        assert view.repository is not None
        if use.path.startswith("?") or "*" in use.path:
            return use.name in known
        if use.path.startswith(("/tmp/", "/dev/", "/proc/", "/usr/", "/etc/")):
            return True
        relative = use.path.removeprefix(HOME).lstrip("/")
        for prefix in (
            f"workspace/{view.repository.name}/",
            "workspace/",
            f"{view.repository.name}/",
            "app/",
        ):
            if use.path.startswith("/") and relative.startswith(prefix):
                relative = relative.removeprefix(prefix)
                break
        else:
            if use.path.startswith("/"):
                return False
        if ".." in relative.split("/"):
            return (
                is_file(view.task.root / relative.removeprefix("../"))
                if relative.count("..") == 1
                else use.name in known
            )
        options = (
            view.repository / relative,
            view.repository / "unit_test" / relative,
            view.task.root / relative,
        )
        return any(is_file(option) or option.is_dir() for option in options)


def _is_data(name: str) -> bool:
    return bool(re.search(r"\.[A-Za-z][A-Za-z0-9]{1,11}$", name)) and not any(
        char in name for char in "*{}?%$"
    )


class RunsAnywhere(ImplementationCheck):
    """LMR509."""

    code = "LMR509"
    title = "the test needs no GPU, no network and no model"
    rationale = (
        "Verification runs on machines without a GPU and without a network. Small recorded inputs test the"
        " same function."
    )
    severity = Severity.WARNING
    failing = (
        Example(
            "cuda()",
            files={
                TEST: UNIT_TEST.replace(
                    "LOGS = os", "import torch\nWEIGHTS = torch.ones(3).cuda()\nLOGS = os"
                )
            },
        ),
        Example(
            "a model from a hub",
            files={
                TEST: UNIT_TEST.replace(
                    "LOGS = os",
                    "from transformers import AutoModel\nMODEL ="
                    " AutoModel.from_pretrained('org/model-7b')\nLOGS = os",
                )
            },
        ),
        Example(
            "a request",
            files={
                TEST: UNIT_TEST.replace(
                    "LOGS = os", "import requests\nPAGE = requests.get('https://example.org')\nLOGS = os"
                )
            },
        ),
    )
    passing = (
        Example(
            "a GPU only where there is one",
            files={
                TEST: UNIT_TEST.replace(
                    "LOGS = os",
                    "import torch\nDEVICE = 'cuda' if torch.cuda.is_available() else 'cpu'\nLOGS = os",
                )
            },
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each kind of need."""
        path = unit_test_path(view, implementation)
        test = reading(view, path)
        if test is None or path is None:
            return
        said: set[str] = set()
        for what, line in [*needs(view, test), *self._of_the_target(view, implementation)]:
            kind = what.partition(":")[0]
            if kind not in said:
                said.add(kind)
                yield self.finding(
                    view,
                    f"needs {what.replace(':', ',', 1)}",
                    "use small stored inputs and the CPU, or guard it with torch.cuda.is_available()",
                    implementation=implementation,
                    path=path,
                    pointer=f"L{line}" if line else "",
                )

    @staticmethod
    def _of_the_target(view: TaskView, implementation: Implementation) -> list[tuple[str, int]]:
        """A GPU that the target's own code demands."""
        one = pair(view, implementation)
        for target in one.targets:
            if target.golden is None or isinstance(target.golden.node, ast.ClassDef):
                continue
            if "is_available" not in ast.unparse(target.golden.node) and _cuda_line(target.golden.node):
                return [(f"a GPU: {target.qualname} moves its data to one", 0)]
        return []


def needs(view: TaskView, test: Reading) -> Iterator[tuple[str, int]]:
    """("a GPU: …", line) for each thing that the test itself needs."""
    source = "\n".join(module.text for module in test.modules)
    if "is_available" not in source:
        line = _cuda_line(test.module.tree)
        if line:
            yield "a GPU", line
    mocked = "mock" in source or "monkeypatch" in source
    for module, node, name in test.calls:
        if module is not test.module or mocked:
            continue
        last = name.rpartition(".")[2]
        first = node.args[0] if node.args else None
        value = test.path_of(first) if last == "from_pretrained" else None
        if last == "from_pretrained" and value is not None and not _is_local(view, value):
            yield f"a model: {value.removeprefix('@/')}", node.lineno
        elif (
            name in _NETWORK
            or (last in ("load_dataset", "hf_hub_download", "snapshot_download", "urlopen", "urlretrieve"))
        ) and not _is_local(view, test.path_of(first) or ""):
            yield f"the network or a model: {name}", node.lineno


def _is_local(view: TaskView, path: str) -> bool:
    if path.startswith("?"):
        return True  # only its end is known: nothing is claimed
    relative = path.removeprefix(HOME).lstrip("/")
    if not relative or view.repository is None or path.startswith(("/", "..")):
        return bool(path.startswith("/"))
    try:
        return (view.repository / relative).exists() or (view.repository / "unit_test" / relative).exists()
    except (OSError, ValueError):
        return False


def _cuda_line(tree: ast.Module | FunctionNode) -> int:
    """The line at which something is moved to a GPU without asking whether there is one; 0 if none is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            last = dotted(node.func).rpartition(".")[2]
            if last == "cuda":
                return node.lineno
            values = [*node.args, *(item.value for item in node.keywords if item.arg == "device")]
            moves = last in ("to", "device", "set_device") or any(
                item.arg == "device" for item in node.keywords
            )
            texts = [value.value for value in values if isinstance(value, ast.Constant)]
            if moves and any(isinstance(text, str) and _CUDA.match(text) for text in texts):
                return node.lineno
    return 0


class WritesNoExpectations(ImplementationCheck):
    """LMR513."""

    code = "LMR513"
    title = "the test does not write the values it expects"
    rationale = (
        "A test that stores its expected values on the first run compares the agent's output with itself."
    )
    failing = (
        Example(
            "written when it is missing",
            files={
                TEST: (
                    UNIT_TEST.replace("import logging\n", "import json\nimport logging\n").replace(
                        "LOGS = os",
                        "EXPECTED = os.path.join(HERE, 'expected.json')\nif not os.path.exists(EXPECTED):\n  "
                        "  json.dump(pairwise_loss([1.0, 0.0], [1, 0]), open(EXPECTED, 'w'))\nVALUES ="
                        " json.load(open(EXPECTED))\nLOGS = os",
                    )
                )
            },
        ),
    )
    passing = (
        Example(
            "a result is stored elsewhere",
            files={
                TEST: (
                    UNIT_TEST.replace("import logging\n", "import json\nimport logging\n").replace(
                        "LOGS = os", "json.dump([1], open(os.path.join(HERE, 'result.json'), 'w'))\nLOGS = os"
                    )
                )
            },
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding, at the first such file."""
        path = unit_test_path(view, implementation)
        test = reading(view, path)
        if test is None or path is None:
            return
        read = {use.path for use in test.uses if not use.writes}
        for use in test.uses:
            if use.writes and not use.log and use.path in read and not use.path.startswith(("/tmp/", "?")):
                yield self.finding(
                    view,
                    f"writes {use.path.removeprefix(HOME + '/')}, which it reads expected values from",
                    "store the golden's values once; the test only reads them",
                    implementation=implementation,
                    path=path,
                    pointer=f"L{use.line}",
                )
                return


def _manifest(digest: str | None) -> str:
    data: dict[str, Any] = {
        "format": "lmr-recording/1",
        "target": {"goal_file": "ranking/losses.py", "qualname": "pairwise_loss", "line": 11},
        "module": "ranking.losses",
        "sys_path": [""],
        "command": ["python", "driver.py"],
        "created": "2025-01-01T00:00:00Z",
        "tool": "0.1.0",
        "versions": {"python": "3.11.10"},
        "calls": 1,
        "coverage": {"lines": [20], "missed": []},
        "cases": [
            {
                "name": "case_1",
                "call": 1,
                "bytes": 3,
                "files": {"inputs.json": digest} if digest else {},
                "summary": {"scores": "list [3]"},
                "outcome": "returned",
                "checkers": {"": {"kind": "exact"}},
                "omitted": [],
            }
        ],
        "support": {},
    }
    return json.dumps(data, indent=2) + "\n"


class RecordingsUntouched(Check):
    """LMR512."""

    code = "LMR512"
    title = "recordings are what recording.json says"
    rationale = (
        "Expected values that were edited by hand, or half of a recording, make a test that no golden run"
        " ever confirmed."
    )
    failing = (
        Example(
            "a case was edited",
            files={
                f"{RECORDING}/recording.json": _manifest("0" * 64),
                f"{RECORDING}/case_1/inputs.json": "{}\n",
            },
        ),
        Example("a file is missing", files={f"{RECORDING}/recording.json": _manifest("0" * 64)}),
        Example("the manifest is no JSON", files={f"{RECORDING}/recording.json": "{"}),
        Example("the manifest is missing", files={f"{RECORDING}/case_1/inputs.json": "{}\n"}),
    )
    passing = (
        Example(
            "as recorded",
            files={
                f"{RECORDING}/recording.json": _manifest(sha256_bytes(b"{}\n")),
                f"{RECORDING}/case_1/inputs.json": "{}\n",
            },
        ),
    )

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each file that differs, and for each manifest that cannot be used."""
        if view.repository is None:
            return
        folder = view.repository / "unit_test" / "recordings"
        prefix = view.relative_raw(folder) + "/"
        numbers = sorted(
            {
                entry.relative[len(prefix) :].partition("/")[0]
                for entry in view.entries
                if entry.relative.startswith(prefix)
            }
        )
        for number in numbers:
            place = folder / number / "recording.json"
            data = view.read_bytes(place)
            inside = any(entry.relative.startswith(f"{prefix}{number}/case_") for entry in view.entries)
            if data is None:
                if inside:
                    yield self.finding(
                        view,
                        "recording.json is missing",
                        "record again: `lmr-author record`",
                        path=folder / number,
                    )
                continue
            yield from self._manifest(view, place, data)

    def _manifest(self, view: TaskView, place: Any, data: bytes) -> Iterator[Finding]:
        try:
            manifest = json.loads(data)
            cases = [(str(case["name"]), dict(case["files"])) for case in manifest["cases"]]
            support = dict(manifest.get("support") or {})
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            yield self.finding(
                view, "recording.json cannot be read", "record again: `lmr-author record`", path=place
            )
            return
        wanted = [
            (place.parent / name / file, digest) for name, files in cases for file, digest in files.items()
        ]
        wanted += [
            (place.parent.parent.parent / SUPPORT / str(file), digest) for file, digest in support.items()
        ]
        for path, digest in wanted:
            if ".." in path.parts or view.inside(view.task.root, view.relative_raw(path)) is None:
                yield self.finding(
                    view, "recording.json names a file outside of the recording", "record again", path=place
                )
            elif not is_file(path):
                yield self.finding(
                    view, f"{view.relative(path)} is missing", "record again: `lmr-author record`", path=place
                )
            elif sha256_file(path) != digest:
                yield self.finding(
                    view, "differs from what was recorded", "record again: `lmr-author record`", path=path
                )
