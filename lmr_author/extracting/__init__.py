"""Turn a block of statements into a function, with the program's behaviour unchanged.

Bytes in, bytes out: :func:`lmr_author.extracting.extract.extract` neither reads nor writes a file. What a block
needs and leaves behind is found by a data flow analysis of the scope it stands in (``events``, ``flow``,
``names``); what cannot be moved is refused with the reason (``rules``); the edit is made by bytes (``write``).
``docs/decisions/0006-own-extraction-not-rope.md`` says why rope does not do this.
"""
