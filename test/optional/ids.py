"""Ids of texts by the tokenizer of a Hugging Face folder: `python ids.py FOLDER '["text", …]'` prints JSON."""

import json
import os
import sys

# A file named transformers.py beside the script must not be taken for the package.
sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != os.path.dirname(os.path.abspath(__file__))]

from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
texts = json.loads(sys.argv[2])
ids = [tokenizer.encode(text, add_special_tokens=False) for text in texts]
chat = [{"role": "user", "content": "Hi"}]
print(json.dumps({
    "ids": ids,
    "texts": [tokenizer.decode(row, skip_special_tokens=True) for row in ids],
    "chat": tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True) if tokenizer.chat_template else None,
}))
