"""Find functions taken over from another project: folders, copied trees, copied library files."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from lmr_author.indexing import Index

FOREIGN = re.compile(r"third_?party|vendor(ed)?|site-packages|extern(al)?s?", re.I)
_PROJECTS = """
    transformers pytorch_transformers pytorch_pretrained_bert fairseq torch torchvision tensorflow apex
    detectron2 mmcv mmdet timm diffusers peft trl accelerate datasets allennlp opennmt onmt tensor2tensor
    sentence_transformers lm_eval senteval taming clip
"""
PROJECTS = frozenset(_PROJECTS.split())
"""Folders of projects that research code is often copied from."""

_ARCHITECTURES = """
    Albert Bart Beit Bert BERT BertGeneration BigBird BigBirdPegasus Blenderbot BlenderbotSmall Blip Bloom Camembert
    Canine CLIP CLIPText CLIPVision ConvBert CTRL Deberta DebertaV2 DeiT Detr DistilBert DPR Electra Ernie Falcon
    Flaubert FNet FSMT Funnel Gemma Gemma2 GPT GPT2 GPTJ GPTNeo GPTNeoX Hubert IBert LayoutLM LayoutLMv2 LED Llama
    Longformer Luke Lxmert M2M100 Marian MBart MegatronBert Mistral Mixtral MobileBert MPNet MT5 Nystromformer
    OpenAIGPT OPT Pegasus Perceiver Phi Phi3 ProphetNet Qwen2 Qwen2Moe Qwen3 Reformer RemBert Roberta RoFormer
    Speech2Text Splinter SqueezeBert Swin T5 Tapas TransfoXL ViT VisualBert Wav2Vec2 Whisper XLM XLMRoberta XLNet
"""
_PARTS = r"""
    Embeddings? Embedding(s|Layer) (Learned|Sinusoidal)PositionalEmbedding PatchEmbeddings? RotaryEmbedding
    (Self|Cross|Flash|Sdpa|Lsh|Local)?Attention2? SelfOutput Intermediate Output Layer Block Stack MLP
    (En|De)coder (En|De)coderLayer Pooler Model (Text|Vision)Model PreTrainedModel LayerNorm RMSNorm
    PredictionHeadTransform (LM|Only|OnlyMLM|OnlyNSP|LMPrediction|PreTraining|Classification)Heads? LMModel
    (LMHead|DoubleHeads)Model LayerFF Layer(Self|Cross)Attention Dense\w*Dense Tokenizer(Fast)? Config
    For(MaskedLM|CausalLM|PreTraining|NextSentencePrediction|MultipleChoice|ConditionalGeneration)
    For(Sequence|Token|Image|Audio|Text)Classification ForQuestionAnswering(Simple)? WithLMHeadModel
"""
_LIBRARY_CLASS = re.compile(
    rf"(?P<prefix>\w*?)(?P<architecture>{'|'.join(sorted(_ARCHITECTURES.split(), key=len, reverse=True))})"
    rf"(?P<part>{'|'.join(_PARTS.split())})"
)
"""Class names of the library transformers, which is what is copied most: an architecture and a part of it."""

_LIBRARY_FILE = re.compile(
    rf"(modeling|tokenization|configuration)_(\w+_)?({'|'.join(_ARCHITECTURES.lower().split())})(_fast)?"
)
FAMILY = 3
"""So many parts of one architecture make a file a copy of the library's."""


@dataclass(frozen=True)
class Origin:
    """The project that a function seems to be from.

    Attributes:
        adapted: changed for the repository, which shows in a name of its own.
        reason: what tells so, as a sentence.
    """

    adapted: bool
    reason: str


class Origins:
    """Tells of each function of a repository whether it was taken over from another project."""

    def __init__(self, index: Index, repository: str = "") -> None:
        """``repository``: its name, which tells its own code from another project's."""
        self._own = repository.lower().replace("-", "_")
        self._trees = tuple(sorted(set(self._copied_trees(index))))
        self._families = self._copied_files(index)

    def of(self, path: str, class_name: str) -> Origin | None:
        """The origin of a function by its file and class ("" for none); None where it is the repository's own."""
        folder = self._folder(path)
        if folder:
            return Origin(False, f"it belongs to another project ({folder})")
        if path in self._families:
            return Origin(False, f"its file is like transformers' own of {self._families[path]}")
        found = self._library_class(path, class_name)
        if found is not None and not found["prefix"]:
            return Origin(False, f"transformers has a class {found[0]}, of which this seems to be a copy")
        if found is not None:
            name = f"{found['architecture']}{found['part']}"
            return Origin(True, f"it seems to be adapted from transformers' {name}")
        stem = path.rpartition("/")[2].removesuffix(".py")
        if _LIBRARY_FILE.fullmatch(stem) and not self._named_for(stem):
            return Origin(True, f"its file is named as transformers' own, {stem}.py")
        return None

    def _folder(self, path: str) -> str:
        """The folder that says that a file was taken over from another project; "" when none does."""
        for tree, project in self._trees:
            if path.startswith(tree):
                return f"{tree.rstrip('/')}, a copy of {project}"
        for folder in path.split("/")[:-1]:
            name = folder.lower().replace("-", "_")
            if FOREIGN.fullmatch(folder) or (name in PROJECTS and name not in self._own):
                return folder
        return ""

    def _copied_trees(self, index: Index) -> Iterator[tuple[str, str]]:
        """Folders with the whole repository of another project, as (folder with a slash, project).

        A project's package in ``src/`` of a folder, or beside its ``setup.py``, says so. Never the top folder: what is
        new in a fork may be anywhere in it.
        """
        paths = set(index.files)
        for path in paths:
            parts = path.split("/")[:-1]
            for place, name in enumerate(parts):
                if name not in PROJECTS or name in self._own:
                    continue
                outer = parts[: place - 1] if parts[place - 1 : place] == ["src"] else parts[:place]
                tree = "".join(f"{part}/" for part in outer)
                if tree and (len(outer) < place or f"{tree}setup.py" in paths):
                    yield tree, name

    def _copied_files(self, index: Index) -> dict[str, str]:
        """The files that hold most of one of the library's architectures, under its own names."""
        parts: dict[tuple[str, str], set[str]] = defaultdict(set)
        for entry in index.functions:
            found = self._library_class(entry.path, entry.class_name)
            if found is not None and not found["prefix"]:
                parts[entry.path, found["architecture"]].add(found["part"])
        return {path: name for (path, name), found in parts.items() if len(found) >= FAMILY}

    def _library_class(self, path: str, class_name: str) -> re.Match[str] | None:
        found = _LIBRARY_CLASS.fullmatch(class_name.partition(".")[0])
        if found is None or found["architecture"].lower() == self._own:
            return None
        return None if self._named_for(path.rpartition("/")[2].removesuffix(".py")) else found

    def _named_for(self, stem: str) -> bool:
        """Recognize a file with the repository's name, beyond an architecture's: it may well hold what is new."""
        own = set(self._own.split("_")) - set(_ARCHITECTURES.lower().split())
        return any(len(word) > 3 and word in stem.lower() for word in own)
