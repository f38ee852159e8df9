"""What is no leak: siblings, boilerplate, small bodies. And what is a look-alike only."""

from __future__ import annotations

import pytest

from lmr_author.proof import leaks
from tests.leaks.functions import ATTENTION, CONTRASTIVE, FUNCTIONS, METRIC, wanted

TRIPLET = """\
def triplet_loss(self, anchors, positives, negatives, weights=None):
    anchors = F.normalize(anchors, dim=-1)
    positives = F.normalize(positives, dim=-1)
    negatives = F.normalize(negatives, dim=-1)
    near = (anchors - positives).pow(2).sum(dim=-1)
    far = (anchors - negatives).pow(2).sum(dim=-1)
    loss = F.relu(near - far + self.margin)
    active = (loss > 0).float().sum().clamp(min=1)
    if weights is not None:
        loss = loss * weights
    return loss.sum() / active
"""

PLAIN_ATTENTION = """\
def forward(self, x, mask=None):
    batch, length, width = x.shape
    qkv = self.qkv(x).reshape(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
    q, k, v = qkv.unbind(0)
    scores = (q @ k.transpose(-2, -1)) * self.scale
    if mask is not None:
        scores = scores.masked_fill(mask, -1e9)
    scores = scores.softmax(dim=-1)
    x = (scores @ v).transpose(1, 2).reshape(batch, length, width)
    return self.drop(self.proj(x))
"""

TRAINING = """\
def train(self, loader, epochs):
    self.model.train()
    for epoch in range(epochs):
        for batch in loader:
            batch = {name: value.to(self.device) for name, value in batch.items()}
            self.optimizer.zero_grad()
            loss = self.model(**batch).loss
            loss.backward()
            self.optimizer.step()
            self.scheduler.step()
"""

PRECISION = METRIC.replace("token_f1", "token_precision").replace(
    "        recall = overlap / len(wanted)\n"
    "        best = max(best, 2 * precision * recall / (precision + recall))\n",
    "        best = max(best, precision)\n",
)

SIBLINGS = {
    "another loss": (CONTRASTIVE, TRIPLET),
    "another attention": (ATTENTION, PLAIN_ATTENTION),
    "a training loop": (CONTRASTIVE, TRAINING),
}


@pytest.mark.parametrize("name", SIBLINGS)
def test_a_sibling_that_does_something_else_is_no_leak(name: str) -> None:
    for one, other in (SIBLINGS[name], SIBLINGS[name][::-1]):
        assert leaks.in_file("other.py", other.encode(), [wanted(one)]) == []
        assert leaks.in_file("README.md", f"```python\n{other}```\n".encode(), [wanted(one)]) == []


def test_no_function_is_taken_for_another() -> None:
    everything = "\n\n".join(FUNCTIONS.values()).encode()
    for name, source in FUNCTIONS.items():
        others = "\n\n".join(text for other, text in FUNCTIONS.items() if other != name).encode()
        solution = wanted(source)

        assert [leak.where for leak in leaks.in_file("all.py", everything, [solution])] == [solution.name]
        assert leaks.in_file("others.py", others, [solution]) == []


def test_a_sibling_with_most_of_the_code_is_a_look_alike_with_a_diff() -> None:
    (found,) = leaks.in_file("metrics.py", PRECISION.encode(), [wanted(METRIC)])

    assert not found.sure
    assert 0.6 < found.similarity < 0.95
    assert "-    recall = overlap / len(wanted)" in found.diff.replace("        ", "    ")


def test_what_stands_scattered_in_a_long_function_is_no_copy() -> None:
    lines = [line for line in METRIC.splitlines()[3:] if "continue" not in line and "if overlap" not in line]
    filler = "".join(
        f"    field_{n} = lookup(table, {n}, key_{n})\n    store.put({n}, field_{n})\n" for n in range(6)
    )
    text = "def everything(table, store):\n" + filler.join(f"    {line.strip()}\n" for line in lines[1:-1])

    assert leaks.in_file("long.py", text.encode(), [wanted(METRIC)]) == []


SMALL = {
    "stores its arguments": "def __init__(self, size, up):\n    self.size = size\n    self.up = up\n",
    "returns an attribute": "def value(self):\n    return self._value\n",
}


@pytest.mark.parametrize("name", SMALL)
def test_a_body_that_tells_nothing_is_not_looked_for(name: str) -> None:
    with pytest.raises(AssertionError):  # functions.wanted asserts that there is something to look for
        wanted(SMALL[name])


def test_a_small_body_is_found_whole_only() -> None:
    source = "def forward(self, x):\n    return self.norm(x + self.mix(x, self.scale * 3))\n"
    solution = wanted(source, owner="Block")
    other = source.replace("* 3", "* 5").replace("norm", "drop")

    assert leaks.in_file("a.py", other.encode(), [solution]) == []
    copied = f"class Block:\n{source.replace('def', '    def').replace('    return', '        return')}"
    assert [leak.sure for leak in leaks.in_file("a.py", copied.encode(), [solution])] == [True]


STEP = """\
def step(self, closure=None):
    for group in self.param_groups:
        warmup = min(1.0, (group["k"] + 1) / group["warmup_steps"])
        rate = group["lr"] * warmup
        weight = (group["k"] ** group["r"]) * (rate ** group["power"])
        total = group["weight_sum"] = group["weight_sum"] + weight
        share = weight / total if total else 0.0
        for p in group["params"]:
            state = self.state[p]
            if "z" not in state:
                state["z"] = torch.clone(p)
            p.mul_(1 - share).add_(state["z"], alpha=share)
            p.add_(p.grad, alpha=rate * (group["momentum"] * (1 - share) - 1))
            state["z"].sub_(p.grad, alpha=rate)
        group["k"] += 1
"""
REWRITTEN = """\
class {name}:
    def step(self, closure=None):
        for group in self.param_groups:
            active = [p for p in group["params"] if p.grad is not None]
            grads = [p.grad for p in active]
            warmup = min(1.0, (group["k"] + 1) / group["warmup_steps"])
            rate = group["lr"] * warmup
            weight = (group["k"] ** group["r"]) * (rate ** group["power"])
            total = group["weight_sum"] = group["weight_sum"] + weight
            share = weight / total if total else 0.0
            zs = [self.state[p]["z"] for p in active]
            torch._foreach_lerp_(active, zs, weight=share)
            torch._foreach_add_(active, grads, alpha=rate * (group["momentum"] * (1 - share) - 1))
            torch._foreach_sub_(zs, grads, alpha=rate)
            torch._foreach_mul_(self.averages, group["decay"])
            torch._foreach_add_(self.averages, active, alpha=1 - group["decay"])
            self.log(group["name"], torch.stack([z.norm() for z in zs]).mean(), self.clock())
            group["k"] += 1
"""


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("SmoothedDescent", True),
        ("SmoothedDescentReference", True),
        ("PlainMomentum", False),
        ("Descent", False),
    ],
)
def test_the_same_method_of_a_class_of_that_name_is_a_look_alike(name: str, found: bool) -> None:
    method = wanted(STEP, owner="SmoothedDescent")

    places = leaks.in_file("submission.py", REWRITTEN.format(name=name).encode(), [method])

    assert [(place.where, place.sure) for place in places] == ([(f"{name}.step", False)] if found else [])
