"""Train on texts of several kinds: ties, repeated bytes, several bytes for a character."""

from minbpe import BasicTokenizer

TEXTS = {
    "low lower newest widest": (256, 257, 262, 270),
    "aaabdaaabac": (256, 258, 259),
    "aaaaaaaaaaaa": (257, 260),
    "ab": (257,),
    "abcabc": (258, 259),
    "zzyzzyxyz": (258, 260),
    "Grüße, naïve Ærø – 東京と大阪 🙂🙂🙂": (262, 280),
    "the cat sat on the mat and the rat sat on the cat " * 4: (262, 275, 290),
    "\x00\xff\x00\xff\n\n\t": (257, 259),
}

for text, sizes in TEXTS.items():
    for size in sizes:
        for verbose in (False, True):
            tokenizer = BasicTokenizer()
            tokenizer.train(text, size, verbose=verbose)
            assert tokenizer.decode(tokenizer.encode(text)) == text
            print(size, len(tokenizer.encode(text)))
tokenizer.train("trained again with another text, another text", 266)
print(tokenizer.merges)
