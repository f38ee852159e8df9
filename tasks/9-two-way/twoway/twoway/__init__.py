"""Attribution of a classifier's score to tokens, by eliminating and restoring them."""
