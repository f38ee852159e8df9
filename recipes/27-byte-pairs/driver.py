"""Train on texts of several kinds: ties, repeated bytes, several bytes for a character, and several merges each."""

from minbpe import BasicTokenizer

TEXTS = {
    "zzzz yxyxyx – zyzyzx zxzxzy low lower newest widest": (256, 262, 275),
    "zzzzz é yxyxyxyx ö zzzz yxyx": (258, 261),
    "oooo – ooo – oo zz oooo": (257, 260),
    "ééé zzzza zaza ééé zaza äöäö 東京東京 🙂🙂🙂": (262, 280),
    "!!!! Grüße, naïve Ærø – 東京と大阪 🙂🙂🙂, naïve Grüße": (264,),
    "the cat sat on the mat – and the rat sat on the cat .... " * 3: (270, 280),
    "\x00\xff\x00\xff\n\n\n\n\t\x00\xff": (259,),
    "ab": (257,),
}

for number, (text, sizes) in enumerate(TEXTS.items()):
    for size in sizes:
        tokenizer = BasicTokenizer()
        tokenizer.train(text, size, verbose=(number + size) % 2 == 0)
        assert tokenizer.decode(tokenizer.encode(text)) == text
        print(size, len(tokenizer.encode(text)))
tokenizer.train("zzzz ü yxyxyx: trained again with another text, another text", 266)
print(tokenizer.merges)
