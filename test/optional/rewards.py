"""Calls a reward function directly: reads {"file" or "module", "name", "calls": [keywords]} from stdin, prints the results."""
import importlib
import importlib.util
import json
import os
import sys
import types

# transformers.py lies next to this file.
sys.path.pop(0)
stubs = {}
asked = json.load(sys.stdin)
printed, sys.stdout = sys.stdout, sys.stderr
if "file" in asked:
    spec = importlib.util.spec_from_file_location("direct", asked["file"])
    module = importlib.util.module_from_spec(spec)
    sys.modules["direct"] = module
    spec.loader.exec_module(module)
else:
    if asked.get("stub"):
        # A package whose own import needs more than the wanted module does: only its folders are used.
        outer = asked["module"].split(".")[:-1]
        for at in range(1, len(outer) + 1):
            name = ".".join(outer[:at])
            package = types.ModuleType(name)
            package.__path__ = list(importlib.util.find_spec(outer[0]).submodule_search_locations)
            package.__path__ = [os.path.join(package.__path__[0], *outer[1:at])]
            stubs[name] = package
        sys.modules.update(stubs)
    module = importlib.import_module(asked["module"])
call = getattr(module, asked["name"])
if "made" in asked:
    call = call(**asked["made"])
if __name__ == "__main__":
    json.dump([call(**each) for each in asked["calls"]], printed)
