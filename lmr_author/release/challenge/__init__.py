"""``challenge``: misreadings of a target must fail its test, and rewrites that keep the behaviour must pass."""
