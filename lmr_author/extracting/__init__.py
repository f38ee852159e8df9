"""Turn a block of statements into a function, with the program's behaviour unchanged.

Bytes in, bytes out: :func:`lmr_author.extracting.extract.extract` neither reads nor writes a file. It

1. finds the statements that a range of lines covers (``selection``),
2. refuses what would mean something else in a function (``rules``),
3. finds what the block needs and what is needed of it afterwards: what happens to names (``events``), on
   which ways (``flow``), what is therefore bound and needed (``facts``), and what that means in a ``script``
   and in a ``function`` (``names`` chooses, ``scope`` has what they share),
4. edits the file's bytes (``write``) and proves that the program, with the call put back, is the same one.

``docs/decisions/0006-own-extraction-not-rope.md`` says why rope does not do this.
"""
