"""A tokenizer and a model as small as they can be; nothing is downloaded."""

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

TEXT = [
    "The Space Needle is in the city of Seattle. The Eiffel Tower is in the city of Paris.",
    "Megan Rapinoe plays the sport of soccer. Michael Jordan plays the sport of basketball.",
    "The mother tongue of Danielle Darrieux is French. The Space Needle is a tower.",
    "Therefore I think that this is so. It was cold today. New York City is a city.",
]


def tok():
    """Byte-level pieces as those of GPT-2."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=380, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    end = "<|endoftext|>"
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=end, eos_token=end, padding_side="right")


def model():
    """GPT-2 with three layers and random weights, large enough that its answers differ."""
    torch.manual_seed(3)
    config = GPT2Config(vocab_size=380, n_positions=64, n_embd=16, n_layer=3, n_head=2, attn_implementation="eager")
    network = GPT2LMHeadModel(config)
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(0.15 * torch.randn_like(weight))
        network.transformer.wte.weight.mul_(4)
    return network.eval()
