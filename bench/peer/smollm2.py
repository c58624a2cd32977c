"""SmolLM2-135M with transformers and PEFT: the same work as bench/smollm2Ours.ts, one JSON line a measure.

usage: smollm2.py FILE.gguf WORK…      WORK: prefill, decode, lora (load is always measured)
needs: torch transformers gguf peft
"""

import json
import os
import resource
import sys
import time

began = time.perf_counter()
import torch  # noqa: E402
from transformers import AutoModelForCausalLM  # noqa: E402

imported = time.perf_counter()
path, wanted = sys.argv[1], set(sys.argv[2:])
torch.manual_seed(0)


def tell(what, **values):
    print(json.dumps({"what": what, **values}), flush=True)


def best(work, rounds):
    work()
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


model = AutoModelForCausalLM.from_pretrained(
    os.path.dirname(path) or ".", gguf_file=os.path.basename(path), dtype=torch.float32
)
model.eval()
tell("load", seconds=time.perf_counter() - imported, with_imports=time.perf_counter() - began)


def ids(rows, length):
    return torch.randint(100, 40000, (rows, length))


if "prefill" in wanted:
    for rows, length in ((1, 128), (8, 64)):
        batch = ids(rows, length)
        with torch.no_grad():
            # Last position only, as generation asks for.
            tell(
                f"prefill {rows}x{length}",
                seconds=best(lambda: model(batch, use_cache=True, logits_to_keep=1), 4),
                tokens=rows * length,
            )

if "decode" in wanted:
    for lanes in (1, 8, 32):
        prompt = ids(lanes, 16)
        steps = 24

        def write():
            with torch.no_grad():
                out = model(prompt, use_cache=True, logits_to_keep=1)
                cache, logits = out.past_key_values, out.logits[:, -1]
                for _ in range(steps):
                    # What a rollout needs: a draw and its log-probability at T = 1.
                    logp = torch.log_softmax(logits, -1)
                    token = torch.multinomial(logp.exp(), 1)
                    logp.gather(1, token)
                    out = model(token, past_key_values=cache, use_cache=True)
                    cache, logits = out.past_key_values, out.logits[:, -1]

        tell(f"decode {lanes}", seconds=best(write, 2), tokens=lanes * steps)

if "lora" in wanted:
    from peft import LoraConfig, get_peft_model

    for attribute in ("hf_quantizer", "quantization_method"):
        if hasattr(model, attribute):
            try:
                delattr(model, attribute)
            except AttributeError:
                setattr(model, attribute, None)
    model.is_quantized = False
    config = LoraConfig(
        r=16,
        lora_alpha=32,
        lora_dropout=0.0,
        target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
    )
    adapted = get_peft_model(model, config)
    adapted.train()
    optimizer = torch.optim.AdamW([p for p in adapted.parameters() if p.requires_grad], lr=1e-4)
    batch, response = ids(16, 64), 16

    def step():
        # Loss on the last 16 tokens of each row: the rest is prompt.
        logits = adapted(batch, use_cache=False, logits_to_keep=response + 1).logits[:, :-1]
        logp = torch.log_softmax(logits, -1).gather(2, batch[:, -response:, None])
        (-logp.mean()).backward()
        torch.nn.utils.clip_grad_norm_(adapted.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    tell("lora 16x64", seconds=best(step, 3), tokens=16 * 64)

tell("memory", bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
