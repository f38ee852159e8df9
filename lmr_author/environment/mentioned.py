"""What README, Dockerfile, CI and version files say about the environment. Suggestions, not declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lmr_author import files
from lmr_author.environment import commands
from lmr_author.environment.commands import Commands
from lmr_author.environment.manifests import Line, make
from lmr_author.environment.recipe import Fact, Manifest
from lmr_author.environment.requirements import read_text
from lmr_author.errors import LmrError
from lmr_author.texts import printable

_SECTION = re.compile(
    r"require|install|depend|environment|set-?\s?up|prerequi|getting started|quick\s?start|usage|how to (run|use)"
    r"|preparation|build|reproduc",
    re.I,
)
_PROSE = re.compile(
    r"(?<![\w/.-])(?P<name>python|pytorch|torch|torchvision|torchtext|torchaudio|transformers|huggingface transformers"
    r"|numpy|scipy|scikit-learn|sklearn|pandas|datasets|accelerate|tokenizers|sentencepiece|spacy|nltk|allennlp|fairseq"
    r"|pytorch[- ]lightning|lightning|dgl|tensorflow|tensorboardx|timm|sentence-transformers|faiss|gensim)"
    r"[`*\])\s]{0,4}(?:\([^)\d]{0,60}\)|\([^)\s]*://[^)]*\))?[\s:,-]{0,3}"
    r"(?P<how>(?:\(?(?:is |was |has been |been )?(?:tested|version|verified|run|ran|used|implemented)?s?"
    r"\s*(?:is|on|with|in|under|using|version|against|at)?\s*:?)\s*)"
    r"(?P<mark>==|>=|<=|=|>|<|≥|≤|~=|\^)?\s*v?(?P<version>\d+\.\d+(?:\.\d+)*)"
    r"(?P<more>\s*\+(?!\w)|[^\n]{0,14}(?:or|and) (?:later|above|higher|newer|greater|up))?",
    re.I,
)
_NAMES = {
    "pytorch": "torch",
    "huggingface transformers": "transformers",
    "sklearn": "scikit-learn",
    "pytorch lightning": "pytorch-lightning",
    "faiss": "faiss-cpu",
}


def read_readme(root: Path, path: str) -> Manifest:
    """Installation commands of a README, and versions that its text names beside a package's name."""
    try:
        numbered = list(enumerate(read_text(files.inside(root, path)).splitlines(), 1))
    except LmrError as error:
        return Manifest(path, problems=(f"{path}: {error.message}",))
    code, prose = _split(numbered)
    found = commands.read_commands(code, path)
    spoken = list(_prose(prose, path))
    found.pythons += [
        Fact(text.partition(" ")[2], origin) for text, origin in spoken if text.startswith("python ")
    ]
    found.lines += [
        (text.replace(" ", ""), origin) for text, origin in spoken if not text.startswith("python ")
    ]
    return _manifest(path, found)


def _split(numbered: list[tuple[int, str]]) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Lines of code (fenced, indented, or in backticks) and lines of text below a telling heading."""
    code, prose = [], []
    fenced = telling = False
    for number, line in numbered:
        if re.match(r"^\s*(```|~~~)", line):
            fenced = not fenced
            continue
        if fenced or re.match(r"^( {4}|\t| {0,3}\$ )\s*\S", line):
            code.append((number, line.strip()))
            continue
        code += [(number, text) for text in re.findall(r"`{1,2}([^`\n]+)`{1,2}", line) if " install " in text]
        heading = re.match(r"^#+\s*(.*)|^\*\*(.*)\*\*:?$", line)
        if heading:
            telling = bool(_SECTION.search(heading[0]))
        elif line.strip() and number < len(numbered) and re.match(r"^([=-])\1{2,}\s*$", numbered[number][1]):
            telling = bool(_SECTION.search(line))
        elif telling:
            prose.append((number, line))
    return code, prose


def _prose(lines: list[tuple[int, str]], path: str) -> Iterator[Line]:
    for number, line in lines:
        for match in _PROSE.finditer(line[:400]):
            name = _NAMES.get(match["name"].lower(), match["name"].lower())
            mark = match["mark"] or ("==" if not match["more"] else ">=")
            mark = {"=": "==", "≥": ">=", "≤": "<=", "^": ">="}.get(mark, mark)
            version = match["version"]
            if mark == "==" and match["more"]:
                mark = ">="
            if mark == "==" and (name == "python" or version.count(".") == 1):
                version = ".".join(version.split(".")[:2]) + ".*"
            yield f"{name} {mark}{version}", f"{path}:{number}"


def read_dockerfile(root: Path, path: str) -> Manifest:
    """A Dockerfile of the repository's: its base image's torch and Python, and what it installs."""
    try:
        text = read_text(files.inside(root, path))
    except LmrError as error:
        return Manifest(path, problems=(f"{path}: {error.message}",))
    lines: list[Fact] = []
    pythons: list[Fact] = []
    shell: list[tuple[int, str]] = []
    for number, line in commands.joined(enumerate(text.splitlines(), 1)):
        name, _, rest = line.strip().partition(" ")
        if name.upper() == "FROM":
            for fact in _image(rest, f"{path}:{number}"):
                (pythons if fact.text.startswith("python") else lines).append(fact)
        elif name.upper() == "RUN":
            shell.append((number, re.sub(r"^(--\S+\s+)+", "", rest.strip())))
    found = commands.read_commands(shell, path)
    found.lines = [*((fact.text, fact.origin) for fact in lines), *found.lines]
    found.pythons = [
        *(Fact(fact.text.removeprefix("python"), fact.origin) for fact in pythons),
        *found.pythons,
    ]
    return _manifest(path, found)


def _image(text: str, origin: str) -> Iterator[Fact]:
    image = next((word for word in text.split() if not word.startswith("--")), "")
    torch = re.search(r"pytorch/pytorch:(\d+\.\d+(?:\.\d+)?)", image)
    if torch:
        yield Fact(f"torch=={torch[1]}", origin)
    python = re.search(r"(?:^|/)python:(3\.\d+)|:python(3\.\d+)\b", image)
    if python:
        yield Fact(f"python=={python[1] or python[2]}.*", origin)


def read_workflow(root: Path, path: str) -> Manifest:
    """A CI workflow: its lowest ``python-version``, and what its steps install."""
    try:
        text = read_text(files.inside(root, path))
    except LmrError as error:
        return Manifest(path, problems=(f"{path}: {error.message}",))
    numbered = list(enumerate(re.sub(r"\$\{\{.*?\}\}", "$X", text).splitlines(), 1))
    shell = [(number, re.sub(r"^\s*(-\s*)?(run:\s*\|?)?\s*", "", line)) for number, line in numbered]
    found = commands.read_commands(shell, path)
    found.unused.clear()  # tests against the newest version of this and that
    versions = []
    for number, line in numbered:
        match = re.match(r"^\s*-?\s*[\"']?python[-_]version[\"']?\s*:(.*)$", line)
        versions += [(version, number) for version in re.findall(r"3\.\d+", match[1])] if match else []
    if versions:
        lowest, number = min(versions, key=lambda item: int(item[0].partition(".")[2]))
        found.pythons.append(Fact(f"=={lowest}.*", f"{path}:{number}"))
    return _manifest(path, found)


def read_version_file(root: Path, path: str) -> Manifest:
    """``.python-version`` (pyenv, uv) or ``runtime.txt`` (``python-3.8.10``)."""
    try:
        text = read_text(files.inside(root, path))
    except LmrError as error:
        return Manifest(path, problems=(f"{path}: {error.message}",))
    match = re.search(r"^\s*(?:cpython-|python-)?(3\.\d+)(?:\.\d+)?\s*$", text, re.M)
    return make(path, (), python=f"=={match[1]}.*" if match else "", python_origin=f"{path}:1")


def _manifest(path: str, found: Commands) -> Manifest:
    """What was found as suggestions, never as declarations."""
    python = found.pythons[0] if found.pythons else Fact("", "")
    made = make(
        path, (), python=python.text, python_origin=python.origin, suggested=found.lines, unused=found.unused
    )
    includes = tuple(
        name.removeprefix("./") for name in found.requirements if name and printable(name) == name
    )
    return Manifest(
        made.path,
        python=made.python,
        suggested=made.suggested,
        unused=made.unused,
        python_origin=made.python_origin,
        includes=includes,
        apt=tuple(found.apt),
    )
