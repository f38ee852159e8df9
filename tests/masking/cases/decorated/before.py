@one  # a comment
# between
@two(
    x=1,
)
def f(
    a,  # first
    b={"k": lambda: 1},
) -> int:  # kept
    return 1
