"""What the gguf package reads in a file: `python gguf.py FILE` prints keys, and sum, first and last of every tensor, as JSON."""

import json
import os
import sys

# This file's own name must not be taken for the package's.
sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != os.path.dirname(os.path.abspath(__file__))]

from gguf import GGUFReader
from gguf.quants import dequantize

reader = GGUFReader(sys.argv[1])
tensors = {}
for tensor in reader.tensors:
    values = dequantize(tensor.data, tensor.tensor_type).reshape(-1).astype("float64")
    tensors[tensor.name] = {"extents": [int(n) for n in tensor.shape], "values": [values.sum(), values[0], values[-1]]}
keys = {name: field.contents() for name, field in reader.fields.items() if not name.startswith("GGUF.")}
print(json.dumps({"keys": keys, "tensors": tensors}))
