"""A metric for generated text that looks for displaced pieces of the reference."""
