#!/usr/bin/env python3
import random

random.seed(0)


def prepare():
    # the data
    data = [random.random() for _ in range(4)]
    scale = max(data)
    data = [item / scale for item in data]
    return data


data = prepare()
print(data)
