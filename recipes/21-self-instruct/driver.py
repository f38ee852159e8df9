"""Read generated instances: numbered and not, with and without input, cut off, repeated, contradictory."""

import sys

sys.path.insert(0, "self_instruct")

from prepare_for_finetuning import parse_instances_for_generation_task  # noqa: E402

TEXTS = [
    "Example 1\nInput: 2 3\nOutput: 5\n\nExample 2\nInput: 4 4\nOutput: 8\n\nExample 3\nInput: 1 1\nOutput: 2",
    "Example 1.\nInput: blue\nOutput: red\nExample 2.\nInput: blue\nOutput: red\nExample 3.\nInput: sky\nOutput: grass",
    "Example 1\nInput: blue\nOutput: red\nExample 2\nInput: blue\nOutput: green\nExample 3\nInput: sky\nOutput: grass",
    "Example 1\nOutput: a poem\nExample 2\nOutput: another poem\nExample 3\nOutput: a poem",
    "Input: What is the capital of France?\nOutput: Paris",
    "Output 1: first thing\nInput 2: more\nOutput 2: second thing",
    "Input : left\nOutput : right\nOutput : wrong",
    "There is nothing of use here.",
    "",
    "   \n ",
    "Example\nwrite something short\nExample\nwrite something long",
    "Some words first. Example 1\nInput: x\nOutput: y",
    "Input: p\nOutput: q\nExample 2\nInput: r\nOutput: s",
    "Example 1\nInput: same\nOutput: same\nExample 2\nInput: list:\nOutput: one\nExample 3\nInput: fine\nOutput: good\nExample 4\nInput: z\nOutput:",
    "Example1 Input: tight Output: text Example2 Input: other Output: thing",
    "For Example: Input: odd\nOutput: even\n",
    "Example 12. Input 1: numbers Output 1: words Input 2: more Output 2: things",
    "Example 1\nInput: only\nOutput: this",
    "Examples\nInput: plural\nOutput: plurals",
    "Input: long text without an end\nOutput: it was",
    "Example 1\nInput: a\nOutput: b\nExample 2\nInput: cut\nOutput:",
    "Example 1\nOutput: alone\nExample 2\nInput: with\nOutput: alone",
]

for text in TEXTS:
    for instruction in ("Do it.", "  Add the numbers: \n"):
        for reason in ("stop", "length"):
            metadata = {"response": {"choices": [{"finish_reason": reason}], "id": "x"}}
            print(parse_instances_for_generation_task(text, instruction, metadata))
