def __iter__(self):
    while True:
        batch = [[] for _ in range(8)]
        order = list(range(len(self.data)))
        np.random.seed(RANDOM_SEED)
        np.random.shuffle(order)
        for place in order:
            line = self.data[place]
            text = " ".join(line["text"].split()[: self.maxlen])
            tokens = self.tokenizer.tokenize(text)[:BERT_MAX_LEN]
            size = len(tokens)
            objects_of = {}
            for subject, relation, obj in line["triple_list"]:
                subject = self.tokenizer.tokenize(subject)[1:-1]
                obj = self.tokenizer.tokenize(obj)[1:-1]
                start, other = find_head_idx(tokens, subject), find_head_idx(tokens, obj)
                if start == -1 or other == -1:
                    continue
                objects = objects_of.setdefault((start, start + len(subject) - 1), [])
                objects.append((other, other + len(obj) - 1, self.rel2id[relation]))
            if not objects_of:
                continue
            ids, segments = self.tokenizer.encode(first=text)
            heads, tails = np.zeros(size), np.zeros(size)
            for head, tail in objects_of:
                heads[head] = 1
                tails[tail] = 1
            drawn = next(iter(objects_of))
            object_heads = np.zeros((size, self.num_rels))
            object_tails = np.zeros((size, self.num_rels))
            for head, tail, relation in objects_of[drawn]:
                object_heads[head][relation] = 1
                object_tails[tail][relation] = 1
            row = [ids[:size], segments[:size], heads, tails, [drawn[0]], [drawn[1]], object_heads, object_tails]
            for column, value in zip(batch, row):
                column.append(value)
            if len(batch[0]) == self.batch_size or place == order[-1]:
                arrays = [seq_padding(column) for column in batch[:4]]
                arrays += [np.array(column) for column in batch[4:6]]
                arrays += [seq_padding(column, np.zeros(self.num_rels)) for column in batch[6:]]
                yield arrays, None
                batch = [[] for _ in range(8)]
