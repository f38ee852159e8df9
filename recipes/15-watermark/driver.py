"""Watermarked text of a tiny GPT-2 with random weights, and its detection."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel, LogitsProcessorList

from watermark_processor import WatermarkDetector, WatermarkLogitsProcessor

VOCABULARY = list(range(53))


def tiny_model():
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=len(VOCABULARY), n_positions=64, n_embd=8, n_layer=1, n_head=2)
    return GPT2LMHeadModel(config).eval()


def generate(model, rows, **options):
    processor = WatermarkLogitsProcessor(vocab=VOCABULARY, **options)
    prompt = torch.randint(1, len(VOCABULARY), (rows, 3), generator=torch.Generator().manual_seed(rows))
    with torch.no_grad():
        return model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            logits_processor=LogitsProcessorList([processor]),
            do_sample=True,
            max_new_tokens=8,
            pad_token_id=0,
            eos_token_id=None,
        )


def detector(repeats=False, **options):
    return WatermarkDetector(
        vocab=VOCABULARY,
        device="cpu",
        tokenizer="not used",
        normalizers=[],
        ignore_repeated_bigrams=repeats,
        **options,
    )


def refused(call):
    try:
        call()
    except (AssertionError, ValueError) as error:
        print("refused:", type(error).__name__)


def main():
    model = tiny_model()
    torch.manual_seed(1)
    marked = generate(model, 2, gamma=0.25, delta=4.0)
    generate(model, 1, gamma=0.5, hash_key=97)
    generate(model, 1, gamma=0.37, select_green_tokens=False)
    generate(model, 1, gamma=0.99, delta=1.0)

    for row in marked:
        detector(gamma=0.25)._score_sequence(row)
        detector(gamma=0.25)._score_sequence(row, return_green_token_mask=True, return_p_value=False)
    plain = torch.randint(0, len(VOCABULARY), (20,))
    half = detector(gamma=0.5)
    half._score_sequence(plain)
    half._score_sequence(plain, return_z_score=False, return_green_token_mask=True)
    half._score_sequence(plain, False, False, True, False, False, False)
    half._score_sequence(plain, return_green_fraction=False, return_num_green_tokens=False)
    detector(gamma=0.37, select_green_tokens=False)._score_sequence(plain[:6], return_green_token_mask=True)
    half._score_sequence(plain[:2])
    repeated = torch.tensor([3, 9, 3, 9, 4, 9, 3, 9, 9, 9, 7, 3, 4])
    half._score_sequence(repeated, return_green_token_mask=True)
    once = detector(repeats=True, gamma=0.5)
    once._score_sequence(repeated)
    once._score_sequence(plain, return_z_score=False)
    detector(repeats=True, gamma=0.25)._score_sequence(torch.cat([marked[0], marked[0]]), return_p_value=False)
    refused(lambda: once._score_sequence(repeated, return_green_token_mask=True))
    refused(lambda: half._score_sequence(plain[:1]))


if __name__ == "__main__":
    main()
