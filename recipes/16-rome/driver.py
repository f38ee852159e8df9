"""Causal traces and values to edit, of a tiny GPT-2 with random weights."""

import torch

from experiments import causal_trace
from rome.compute_v import compute_v
from rome.rome_hparams import ROMEHyperParams
from unit_test import fixtures

PREFIXES = ["{}", "It was cold today. {}", "Therefore I think {}"]


def hyper_parameters(**changes):
    values = dict(
        layers=[1],
        fact_token="subject_last",
        v_num_grad_steps=5,
        v_lr=0.2,
        v_loss_layer=2,
        v_weight_decay=0.5,
        clamp_norm_factor=4,
        kl_factor=0.5,
        mom2_adjustment=True,
        context_template_length_params=[],
        rewrite_module_tmp="transformer.h.{}.mlp.c_proj",
        layer_module_tmp="transformer.h.{}",
        mlp_module_tmp="transformer.h.{}.mlp",
        attn_module_tmp="transformer.h.{}.attn",
        ln_f_module="transformer.ln_f",
        lm_head_module="transformer.wte",
        mom2_dataset="wikipedia",
        mom2_n_samples=10,
        mom2_dtype="float32",
    )
    return ROMEHyperParams(**{**values, **changes})


def values(model, tok):
    requests = [
        {"prompt": "{} is in the city of", "subject": "The Space Needle", "target_new": {"str": " Paris"}},
        {"prompt": "{} plays the sport of", "subject": "Megan Rapinoe", "target_new": {"str": " basketball"}},
        {"prompt": "The mother tongue of {} is", "subject": "Danielle Darrieux", "target_new": {"str": " New York City"}},
    ]
    settings = [
        (requests[0], 1, PREFIXES, {}),
        (requests[1], 0, PREFIXES[:2], {"v_lr": 2.0, "kl_factor": 3.0, "clamp_norm_factor": 1.5}),
        (requests[2], 1, PREFIXES, {"fact_token": "last", "v_weight_decay": 5.0}),
        (requests[2], 0, PREFIXES[:1], {"fact_token": "subject_first", "v_num_grad_steps": 3, "v_loss_layer": 0}),
        (requests[0], 2, PREFIXES, {"fact_token": "last", "v_lr": 2.0, "v_num_grad_steps": 30, "clamp_norm_factor": 90, "kl_factor": 0.0, "v_weight_decay": 0.0}),
    ]
    for number, (request, layer, prefixes, changes) in enumerate(settings):
        left = torch.randn(64, generator=torch.Generator().manual_seed(number))
        compute_v(model, tok, request, hyper_parameters(**changes), layer, left / left.norm(), prefixes)


def traces(model, tok):
    prompt = "The Space Needle is in the city of"
    inputs = causal_trace.make_inputs(tok, [prompt] * 5, device="cpu")
    last = inputs["input_ids"].shape[1] - 1
    answer = torch.tensor(7)

    def trace(states, tokens, inp=inputs, answers=answer, **options):
        return causal_trace.trace_with_patch(model, inp, states, answers, tokens, **options)

    trace([], (0, 3))
    trace([], (1, 3), noise=3.0)
    trace([(2, "transformer.h.0")], (0, 3), noise=2.0)
    trace([(2, "transformer.h.1.mlp"), (4, "transformer.h.1.mlp"), (last, "transformer.h.0.attn")], (0, 3), noise=1.5)
    trace([(1, "transformer.h.0")], (0, 3), noise=1.0, uniform_noise=True, answers=torch.tensor([7, 11, 300]))
    trace([(1, "transformer.h.2")], (0, 2), noise=0.5, replace=True)
    trace([(0, "transformer.wte")], None, noise=0.5)
    trace([(2, "transformer.h.1")], (0, 3), noise=2.0, trace_layers=["transformer.h.0", "transformer.h.2"])
    two = causal_trace.make_inputs(tok, ["Paris is a city", "New York is a city"], device="cpu")
    trace([(3, "transformer.h.0")], (0, 1), inp=two, noise=1.0)


def main():
    model, tok = fixtures.model(), fixtures.tok()
    traces(model, tok)
    values(model, tok)


if __name__ == "__main__":
    main()
