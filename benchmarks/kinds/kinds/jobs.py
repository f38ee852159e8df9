"""A step that runs in a process of its own."""

import json
import subprocess
import sys


def shard(texts, parts, number):
    """Every `parts`-th text from `number` on, the longest first."""
    own = [text for place, text in enumerate(texts) if place % parts == number]
    return sorted(own, key=lambda text: (-len(text), text))


def run_all(texts, parts):
    """Shards of some texts, each from a process of its own."""
    command = [sys.executable, "-m", "kinds.jobs"]
    requests = [json.dumps([texts, parts, number]) for number in range(parts)]
    return [
        json.loads(subprocess.run([*command, text], stdout=subprocess.PIPE, check=True).stdout)
        for text in requests
    ]


if __name__ == "__main__":
    print(json.dumps(shard(*json.loads(sys.argv[1]))))
