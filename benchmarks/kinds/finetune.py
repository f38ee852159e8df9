"""A script: its function is called under __main__."""

import argparse

import numpy as np


class Schedule:
    def __init__(self, base):
        self.base = base
        self.history = []


def anneal(schedule, step, total, floor=0.05):
    """Cosine with a floor; remembers what it gave."""
    if step >= total:
        value = floor * schedule.base
    else:
        value = schedule.base * (floor + (1 - floor) * 0.5 * (1 + np.cos(np.pi * step / total)))
    schedule.history.append(float(value))
    return value


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--total", type=int, default=8)
    args = parser.parse_args()
    schedule = Schedule(0.3)
    for step in range(0, args.total + 3, 2):
        anneal(schedule, step, args.total)
