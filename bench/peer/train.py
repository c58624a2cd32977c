"""Training steps of a Llama decoder in eager PyTorch: the other side of bench/train.ts.

Each line of the input describes a model and a batch as JSON; some steps (forward, backward, fused AdamW) are taken, the
model kept from line to line, and the seconds of the fastest are answered.
"""

import json
import sys
import time

import torch
import torch.nn.functional as F

EPSILON = 1e-5


class Decoder(torch.nn.Module):
    """RMS norms, rotary positions, SwiGLU, a tied head: the `tiny` family."""

    def __init__(self, width, layers, heads, hidden, vocabulary, length):
        super().__init__()
        self.heads, self.head = heads, width // heads
        matrix = lambda *shape: torch.nn.Parameter(torch.randn(*shape) * 0.02)
        gain = lambda: torch.nn.Parameter(torch.ones(width))
        self.embedding = matrix(vocabulary, width)
        self.norm = gain()
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            layer = torch.nn.Module()
            layer.norm1, layer.norm2 = gain(), gain()
            layer.qkv, layer.out = matrix(width, 3 * width), matrix(width, width)
            layer.gate_up, layer.down = matrix(width, 2 * hidden), matrix(hidden, width)
            self.layers.append(layer)
        pairs = self.head // 2
        angles = torch.outer(torch.arange(length), 10000.0 ** (-torch.arange(pairs) / pairs)).repeat(1, 2)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def rotate(self, x):
        first, second = x.chunk(2, -1)
        return x * self.cos + torch.cat((-second, first), -1) * self.sin

    def forward(self, ids):
        rows, length = ids.shape
        x = F.embedding(ids, self.embedding)
        width = x.shape[-1]
        for layer in self.layers:
            qkv = F.rms_norm(x, (width,), layer.norm1, EPSILON) @ layer.qkv
            q, k, v = qkv.view(rows, length, 3 * self.heads, self.head).transpose(1, 2).split(self.heads, 1)
            mixed = F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, is_causal=True)
            x = x + mixed.transpose(1, 2).reshape(rows, length, width) @ layer.out
            gate, up = (F.rms_norm(x, (width,), layer.norm2, EPSILON) @ layer.gate_up).chunk(2, -1)
            x = x + (F.silu(gate) * up) @ layer.down
        return F.rms_norm(x, (width,), self.norm, EPSILON) @ self.embedding.T


models = {}
for line in sys.stdin:
    case = json.loads(line)
    size = tuple(case[key] for key in ("width", "layers", "heads", "hidden", "vocabulary", "length"))
    if size not in models:
        models.clear()
        torch.manual_seed(1)
        model = Decoder(*size)
        models[size] = model, torch.optim.AdamW(model.parameters(), 1e-3, fused=True)
    model, optimizer = models[size]
    ids = torch.randint(0, case["vocabulary"], (case["rows"], case["length"] + 1))
    least = float("inf")
    for _ in range(case["steps"]):
        start = time.perf_counter()
        loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()
        least = min(least, time.perf_counter() - start)
    print(least, flush=True)
