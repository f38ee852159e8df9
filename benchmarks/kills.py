"""Kill every command that writes, many times, and print what is left: `python benchmarks/kills.py [--kills N]`.

A row for each command, also for one that cannot be run here (error): kills; how its files were found (as before, as
after, between); how often the same command completed them; and what it left: folders in TMPDIR, temporary names beside
outputs, processes, containers.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.killing import DOCKER, ROOT, VERBS, Kill, Range, Verb

KINDS = ("temporary", "partial", "process", "container")
STATES = ("before", "between", "after", "not killed", "error")


def main() -> int:
    """Kill, and print a table; exit code 1 if anything is not as promised."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=200, help="number of all kills together")
    parser.add_argument(
        "--docker", type=int, default=0, help="kills of an evaluation in Docker, beside those"
    )
    parser.add_argument("--minutes", type=float, default=600.0, help="print the table after so long")
    parser.add_argument("--only", action="append", help="this command alone; repeatable")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--code", type=Path, default=ROOT, help="folder of another version of the package")
    chosen = parser.parse_args()
    verbs = [verb for verb in VERBS if not chosen.only or verb.name in chosen.only]
    rounds = [verbs[number % len(verbs)] for number in range(chosen.kills)] + [DOCKER] * chosen.docker
    choose, kills, end = random.Random(chosen.seed), list[Kill](), time.monotonic() + 60 * chosen.minutes
    with tempfile.TemporaryDirectory(prefix="lmr-kills-") as folder:
        Path(folder).chmod(0o755)
        place = Range(Path(folder), chosen.code.resolve())
        try:
            for number, verb in enumerate(rounds, 1):
                if time.monotonic() > end:
                    break
                if any(kill.verb == verb.name and kill.state == "error" for kill in kills):
                    continue
                kills.append(_kill(place, verb, choose))
                if not kills[-1].good:
                    print(f"{number}: {kills[-1]}", file=sys.stderr, flush=True)
                if number % len(verbs) == 0:
                    print(f"{number} of {len(rounds)}", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
    _print(kills)
    return 0 if all(kill.good for kill in kills) else 1


def _kill(place: Range, verb: Verb, choose: random.Random) -> Kill:
    """Kill a command; one that fails without being killed costs its own row only."""
    try:
        return place.kill(verb, choose)
    except Exception as error:
        return Kill(verb.name, "error", False, {}, f"{type(error).__name__}: {error}")


def _print(kills: list[Kill]) -> None:
    columns = ("kills", *STATES, "completed", *KINDS)
    print(f"{'':<24}" + "".join(f"{name:>12}" for name in columns))
    for verb in [*dict.fromkeys(kill.verb for kill in kills), "all"]:
        mine = [kill for kill in kills if verb in (kill.verb, "all")]
        states = Counter(kill.state for kill in mine)
        left = sum((Counter(kill.left) for kill in mine), Counter[str]())
        numbers = (len(mine), *(states[name] for name in STATES), sum(kill.completed for kill in mine))
        print(
            f"{verb:<24}" + "".join(f"{number:>12}" for number in (*numbers, *(left[kind] for kind in KINDS)))
        )


if __name__ == "__main__":
    raise SystemExit(main())
