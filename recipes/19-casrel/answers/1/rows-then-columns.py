def __iter__(self):
    def row_of(line):
        text = " ".join(line["text"].split()[: self.maxlen])
        tokens = self.tokenizer.tokenize(text)[:BERT_MAX_LEN]
        objects = {}
        for subject, relation, obj in line["triple_list"]:
            subject, obj = (self.tokenizer.tokenize(entity)[1:-1] for entity in (subject, obj))
            places = find_head_idx(tokens, subject), find_head_idx(tokens, obj)
            if -1 in places:
                continue
            span = places[0], places[0] + len(subject) - 1
            objects.setdefault(span, []).append((places[1], places[1] + len(obj) - 1, self.rel2id[relation]))
        if not objects:
            return None
        ids, segments = (part[: len(tokens)] for part in self.tokenizer.encode(first=text))
        heads, tails = np.zeros((2, len(tokens)))
        for head, tail in objects:
            heads[head] = tails[tail] = 1
        drawn = choice(list(objects))
        object_heads, object_tails = np.zeros((2, len(tokens), self.num_rels))
        for head, tail, relation in objects[drawn]:
            object_heads[head, relation] = object_tails[tail, relation] = 1
        return ids, segments, heads, tails, [drawn[0]], [drawn[1]], object_heads, object_tails

    while True:
        waiting = []
        order = list(range(len(self.data)))
        np.random.seed(RANDOM_SEED)
        np.random.shuffle(order)
        for number, place in enumerate(order, 1):
            row = row_of(self.data[place])
            if row is None:
                continue
            waiting.append(row)
            if len(waiting) == self.batch_size or number == len(order):
                columns = list(zip(*waiting))
                padded = [seq_padding(column) for column in columns[:4]]
                drawn = [np.array(column) for column in columns[4:6]]
                wide = [seq_padding(column, np.zeros(self.num_rels)) for column in columns[6:]]
                yield padded + drawn + wide, None
                waiting = []
