"""Turn a block of statements into a function, with the program's behaviour unchanged.

Bytes in, bytes out: :func:`lmr_author.authoring.extracting.extract.extract` neither reads nor writes a file. It

1. finds the statements that a range of lines covers, and refuses what would mean something else in a function
   (``selection``),
2. finds the function's signature (``names``) from the ``events`` of names on the ways through the code (``flow``),
3. edits the file's bytes (``write``) and proves that the program, with the call put back, is the same one.

``task_file`` does this for a file of a task.

``docs/decisions/0006-own-extraction-not-rope.md`` says why rope does not do this.
"""
