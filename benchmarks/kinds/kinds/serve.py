"""Asking several models at once, and a schedule made of a nested function."""

import asyncio
import math


async def gather_votes(prompt, clients, timeout=1.0):
    """Majority vote of several clients; those that take longer than the timeout (seconds) have no vote."""

    async def one(client):
        try:
            return await asyncio.wait_for(client(prompt), timeout)
        except TimeoutError:
            return None

    answers = [a for a in await asyncio.gather(*(one(c) for c in clients)) if a is not None]
    if not answers:
        return None, 0.0
    best = max(sorted(set(answers)), key=answers.count)
    return best, answers.count(best) / len(answers)


class Upper:
    """Answers with the prompt in capitals, after a while (seconds)."""

    def __init__(self, delay=0.0):
        self.delay = delay

    async def __call__(self, prompt):
        await asyncio.sleep(self.delay)
        return prompt.upper()


class Fixed:
    """Answers with the same text at once."""

    def __init__(self, text):
        self.text = text

    async def __call__(self, prompt):
        return self.text


def make_schedule(warmup, total):
    """A learning rate schedule: linear warm-up, cosine decay to a floor."""
    floor = 0.1

    def factor(step):
        """The factor at a step."""
        if step < warmup:
            return step / max(1, warmup)
        progress = (step - warmup) / max(1, total - warmup)
        return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))

    return factor
