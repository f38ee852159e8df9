"""Class prototypes for streams that drift."""
