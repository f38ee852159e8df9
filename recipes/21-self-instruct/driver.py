"""Read generated instances: numbered and not, with and without input, cut off, repeated, contradictory, not there."""

import sys

sys.path.insert(0, "self_instruct")

from prepare_for_finetuning import parse_instances_for_generation_task  # noqa: E402

# Texts of a model are long: these go on with an instance that is there twice, with two that have no input, and an empty output.
TAIL = "\nExample 7\nOutput: heads\nExample 8\nOutput: heads\nExample 9\nOutput: tails\nExample 10\nInput: up\nOutput:"
LONG = [
    "Example 1\nInput: 2 3\nOutput: 5\n\nExample 2\nInput: 4 4\nOutput: 8\n\nExample 3\nInput: 1 1\nOutput: 2",
    "Example 1.\nInput: blue\nOutput: red\nExample 2.\nInput: blue\nOutput: red\nExample 3.\nInput: sky\nOutput: grass",
    "Example 1\nInput: same\nOutput: same\nExample 2\nInput: list:\nOutput: one\nExample 3\nInput: z\nOutput: two:",
    "Example 1\nInput: left\nOutput: right\nExample 2\nInput: left\nOutput: wrong\nExample 3\nInput: sea\nOutput: salt",
    "Example1 Input: tight Output: text Example2 Input: other Output: thing",
    "Some words first. Example 1\nInput: x\nOutput: y",
    "Example\nwrite something short\nExample\nwrite something long",
    "Examples\nInput: plural\nOutput: plurals",
    "Input: p\nOutput: q\nExample 2\nInput: r\nOutput: s",
    "Example 12. Input 1: numbers Output 1: words Input 2: more Output 2: things",
]
SHORT = [
    "Example 1\nInput: blue\nOutput: red\nExample 2\nInput: blue\nOutput: green\nExample 3\nInput: sky\nOutput: grass",
    "Input: What is the capital of France?\nOutput: Paris",
    "Output 1: first thing\nInput 2: more\nOutput 2: second thing",
    "Input : left\nOutput : right\nOutput : wrong",
    "There is nothing of use here.",
    "   \n ",
    "Example 1\nInput: in\nOutput: out\nExample 2\nInput: up\nOutput: down\nExample 3",
]
INSTRUCTIONS = ["Do it.", "  Add the numbers: \n"]


def show(text, number, reason):
    metadata = {"response": {"choices": [{"finish_reason": reason}], "id": "x"}}
    print(parse_instances_for_generation_task(text, INSTRUCTIONS[number % 2], metadata))


for number, text in enumerate(LONG):
    for reason in ("stop", "length"):
        show(text + TAIL, number, reason)
for number, text in enumerate(SHORT):
    show(text, number, "stop")
show(SHORT[1], 0, "length")
show(SHORT[-1], 1, "length")
# A request that failed has no response, and no text.
print(parse_instances_for_generation_task("", INSTRUCTIONS[0], {"response": None}))
