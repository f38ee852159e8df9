from typing import TYPE_CHECKING

if TYPE_CHECKING:
    def helper(x: int) -> int:
        # TODO: implement helper.
        raise NotImplementedError
else:
    value = 1
