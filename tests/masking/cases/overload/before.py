from typing import overload


@overload
def pad(x: int) -> int: ...
@overload
def pad(x: str) -> str: ...
def pad(x):
    return x * 2
