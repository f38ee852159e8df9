"""Functions that are looked for: of kinds that papers' repositories have, written for these tests."""

from __future__ import annotations

import ast
import textwrap

from lmr_author.core.task import Implementation
from lmr_author.proof.leaks import Solution, solution_of
from lmr_author.proof.leaks.fragments import parse

CONTRASTIVE = '''\
def contrastive_loss(self, anchors, others, labels, weights=None):
    """A loss over similarities."""
    anchors = F.normalize(anchors, dim=-1)
    others = F.normalize(others, dim=-1)
    similarity = torch.matmul(anchors, others.t()) / self.temperature
    largest, _ = similarity.max(dim=1, keepdim=True)
    similarity = similarity - largest.detach()
    same = torch.eq(labels.unsqueeze(1), labels.unsqueeze(0)).float()
    same.fill_diagonal_(0)
    log_probability = similarity - torch.logsumexp(similarity, dim=1, keepdim=True)
    positives = same.sum(dim=1).clamp(min=1)
    loss = -(same * log_probability).sum(dim=1) / positives
    if weights is not None:
        loss = loss * weights
    return loss.mean()
'''


ATTENTION = '''\
def attend(self, hidden, mask=None):
    """Attention with relative positions."""
    batch, length, width = hidden.shape
    query = self.q_proj(hidden).view(batch, length, self.heads, -1).transpose(1, 2)
    key = self.k_proj(hidden).view(batch, length, self.heads, -1).transpose(1, 2)
    value = self.v_proj(hidden).view(batch, length, self.heads, -1).transpose(1, 2)
    content = torch.einsum("bhqd,bhkd->bhqk", query + self.content_bias, key)
    distance = torch.arange(length, device=hidden.device)
    distance = (distance[:, None] - distance[None, :]).clamp(-self.reach, self.reach) + self.reach
    position = torch.einsum("bhqd,qkd->bhqk", query + self.position_bias, self.relative(distance))
    weights = (content + position) / math.sqrt(query.size(-1))
    if mask is not None:
        weights = weights.masked_fill(mask[:, None, None, :] == 0, float("-inf"))
    weights = self.dropout(torch.softmax(weights, dim=-1))
    mixed = torch.matmul(weights, value).transpose(1, 2).reshape(batch, length, width)
    return self.out_proj(mixed), weights
'''

METRIC = '''\
def token_f1(prediction, references):
    """The best F1 over references."""
    best = 0.0
    for reference in references:
        found = normalize_answer(prediction).split()
        wanted = normalize_answer(reference).split()
        common = Counter(found) & Counter(wanted)
        overlap = sum(common.values())
        if overlap == 0:
            continue
        precision = overlap / len(found)
        recall = overlap / len(wanted)
        best = max(best, 2 * precision * recall / (precision + recall))
    return best
'''

FUNCTIONS = {"loss": CONTRASTIVE, "attention": ATTENTION, "metric": METRIC}


def wanted(source: str, *, owner: str = "") -> Solution:
    """The solution that a function's source is, of a class when one is named."""
    text = f"class {owner}:\n{textwrap.indent(source, '    ')}" if owner else source
    module = parse(text.encode(), "golden.py")
    assert module is not None
    definition = next(item for item in module.definitions if item.kind == "function")
    node = definition.node
    assert not isinstance(node, ast.ClassDef)
    entry = {"goal_file": "golden.py", "goal_function": definition.name, "class_name": owner}
    index = Implementation.from_json({**entry, "golden_file": "golden.py"})
    found = solution_of(index, definition.qualname, module, node, None, None)
    assert found is not None
    return found
