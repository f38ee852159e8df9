def __iter__(self):
    while True:
        batch = []
        order = np.arange(len(self.data))
        np.random.RandomState(RANDOM_SEED).shuffle(order)
        for index in order:
            words = self.data[index]["text"].split()[: self.maxlen]
            tokens = self.tokenizer.tokenize(" ".join(words))
            del tokens[BERT_MAX_LEN:]
            spans = {}
            for triple in self.data[index]["triple_list"]:
                found = []
                for entity in (triple[0], triple[2]):
                    pieces = self.tokenizer.tokenize(entity)[1:-1]
                    start = find_head_idx(tokens, pieces)
                    found.append((start, start + len(pieces) - 1))
                if found[0][0] >= 0 and found[1][0] >= 0:
                    spans.setdefault(found[0], []).append((*found[1], self.rel2id[triple[1]]))
            if spans:
                batch.append((tokens, " ".join(words), spans, choice(list(spans.keys()))))
                if len(batch) == self.batch_size or index == order[-1]:
                    rows, width = len(batch), max(len(item[0]) for item in batch)
                    ids, segments = np.zeros((2, rows, width), dtype=int)
                    heads, tails = np.zeros((2, rows, width))
                    drawn = np.zeros((2, rows, 1), dtype=int)
                    object_heads, object_tails = np.zeros((2, rows, width, self.num_rels))
                    for row, (tokens, text, spans, subject) in enumerate(batch):
                        encoded = self.tokenizer.encode(first=text)
                        ids[row, : len(tokens)] = encoded[0][: len(tokens)]
                        segments[row, : len(tokens)] = encoded[1][: len(tokens)]
                        heads[row, [head for head, _ in spans]] = 1
                        tails[row, [tail for _, tail in spans]] = 1
                        drawn[:, row, 0] = subject
                        for head, tail, relation in spans[subject]:
                            object_heads[row, head, relation] = 1
                            object_tails[row, tail, relation] = 1
                    yield [ids, segments, heads, tails, drawn[0], drawn[1], object_heads, object_tails], None
                    batch = []
