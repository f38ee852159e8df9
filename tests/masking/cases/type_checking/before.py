from typing import TYPE_CHECKING

if TYPE_CHECKING:
    def helper(x: int) -> int:
        return x
else:
    value = 1
