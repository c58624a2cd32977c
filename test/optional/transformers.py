"""Logits of a Hugging Face folder by transformers: `python transformers.py FOLDER '[[1, 5, 9], …]'` prints JSON."""

import json
import os
import sys

# A file named transformers.py beside the script must not be taken for the package.
sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != os.path.dirname(os.path.abspath(__file__))]

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

folder, rows = sys.argv[1], json.loads(sys.argv[2])
model, loading = AutoModelForCausalLM.from_pretrained(
    folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True
)
tokenizer = AutoTokenizer.from_pretrained(folder)
with torch.no_grad():
    logits = [model(torch.tensor([row])).logits.flatten().tolist() for row in rows]
problems = {key: sorted(map(str, loading[key])) for key in ("missing_keys", "unexpected_keys", "mismatched_keys")}
eos = model.config.eos_token_id
print(json.dumps({"logits": logits, "loading": problems, "eos": eos, "tokens": tokenizer("Ab c")["input_ids"]}))
