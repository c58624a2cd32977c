"""Generation by an eager PyTorch loop with a KV cache, for bench/decode.ts.

A decoder of the same sizes as the tiny models: RMS norms, rotary positions, SwiGLU, tied head, scaled-dot-product
attention. All sequences are one batch. Prompts are prefilled together, padded on the left; then every step is one token
for every sequence, sampled at temperature 1, with the log-probability of each (the other side returns it too), until the
longest is done. Caches are allocated whole at the start and only their used part is read.

Reads one JSON object a line: width, layers, heads, hidden, vocabulary, prompts, lengths; prints the seconds of one
generation. Needs: pip install torch.
"""

import json
import sys
import time

import torch
import torch.nn.functional as functional


class Decoder:
    def __init__(self, width, layers, heads, hidden, vocabulary, positions):
        torch.manual_seed(1)
        self.width, self.layers, self.heads = width, layers, heads
        self.head = width // heads
        normal = lambda *extents: torch.randn(*extents) * 0.02  # noqa: E731
        self.embedding = normal(vocabulary, width)
        self.qkv = [normal(3 * width, width) for _ in range(layers)]
        self.out = [normal(width, width) for _ in range(layers)]
        self.gate_up = [normal(2 * hidden, width) for _ in range(layers)]
        self.down = [normal(width, hidden) for _ in range(layers)]
        self.gains = torch.ones(2 * layers + 1, width)
        angles = torch.arange(positions)[:, None] * 10_000 ** (-torch.arange(0, self.head, 2) / self.head)
        self.cos = torch.cat([angles.cos()] * 2, -1)
        self.sin = torch.cat([angles.sin()] * 2, -1)

    def norm(self, x, number):
        return functional.rms_norm(x, (self.width,), self.gains[number], 1e-5)

    def rotate(self, x, cos, sin):
        low, high = x.chunk(2, -1)
        return x * cos + torch.cat([-high, low], -1) * sin

    def __call__(self, ids, positions, keys, values, start, mask):
        """ids [rows, length] at cache columns start …; returns the logits of the last column."""
        rows, length = ids.shape
        x = self.embedding[ids]
        cos, sin = self.cos[positions][:, None], self.sin[positions][:, None]
        for layer in range(self.layers):
            projected = functional.linear(self.norm(x, 2 * layer), self.qkv[layer])
            q, k, v = projected.view(rows, length, 3 * self.heads, self.head).transpose(1, 2).chunk(3, 1)
            keys[layer][:, :, start : start + length] = self.rotate(k, cos, sin)
            values[layer][:, :, start : start + length] = v
            seen = slice(0, start + length)
            mixed = functional.scaled_dot_product_attention(
                self.rotate(q, cos, sin), keys[layer][:, :, seen], values[layer][:, :, seen], attn_mask=mask
            )
            x = x + functional.linear(mixed.transpose(1, 2).reshape(rows, length, self.width), self.out[layer])
            gate, up = functional.linear(self.norm(x, 2 * layer + 1), self.gate_up[layer]).chunk(2, -1)
            x = x + functional.linear(functional.silu(gate) * up, self.down[layer])
        return functional.linear(self.norm(x[:, -1], 2 * self.layers), self.embedding)


@torch.inference_mode()
def generate(model, prompts, lengths):
    rows, longest, steps = len(prompts), max(map(len, prompts)), max(lengths)
    ids = torch.tensor([[0] * (longest - len(prompt)) + prompt for prompt in prompts])
    padding = torch.tensor([longest - len(prompt) for prompt in prompts])
    shape = (rows, model.heads, longest + steps, model.head)
    keys = [torch.zeros(shape) for _ in range(model.layers)]
    values = [torch.zeros(shape) for _ in range(model.layers)]
    columns = torch.arange(longest + steps)
    real = columns[None] >= padding[:, None]
    ragged = bool(padding.any())
    causal = (columns[:longest, None] >= columns[None, :longest])[None, None]
    mask = causal & real[:, None, None, :longest] | torch.eye(longest, dtype=torch.bool)
    positions = (columns[None, :longest] - padding[:, None]).clamp(min=0)
    logits = model(ids, positions, keys, values, 0, mask)
    written, told = [], []
    for step in range(steps):
        logp = functional.log_softmax(logits, -1)
        token = torch.multinomial(logp.exp(), 1)
        written.append(token)
        told.append(logp.gather(1, token))
        if step + 1 == steps:
            break
        at = longest + step
        mask = real[:, None, None, : at + 1] if ragged else None
        logits = model(token, (at - padding)[:, None], keys, values, at, mask)
    return torch.cat(written, 1), torch.cat(told, 1)


models = {}
for line in sys.stdin:
    case = json.loads(line)
    sizes = tuple(case[name] for name in ("width", "layers", "heads", "hidden", "vocabulary"))
    reach = max(map(len, case["prompts"])) + max(case["lengths"]) + 1
    if (sizes, reach) not in models:
        models[(sizes, reach)] = Decoder(*sizes, reach)
    start = time.perf_counter()
    generate(models[(sizes, reach)], case["prompts"], case["lengths"])
    print(time.perf_counter() - start, flush=True)
