"""The keys of SkyRL's config with their defaults, as server/frameworks/releases/tables/skyrl.json has them.

    python scripts/skyrlTable.py > server/frameworks/releases/tables/skyrl.json    # a Python with skyrl and skyrl-gym
"""
import dataclasses
import json
import os
from importlib.metadata import version

from skyrl.train.config import SkyRLTrainConfig
from skyrl.train.config.config import _resolve_class_type

HOME = os.path.expanduser("~")


def default_of(field):
    made = field.default_factory
    return made() if made is not dataclasses.MISSING else field.default


def plain(value):
    """Of a person's folder, whoever they are."""
    if isinstance(value, str) and value.startswith(HOME):
        return "~" + value[len(HOME) :]
    return [plain(one) for one in value] if isinstance(value, list) else value


def walk(made, prefix, keys, opened):
    """Reads classes as they are written: making a whole config fills some keys by others."""
    for field in dataclasses.fields(made):
        name = prefix + field.name
        inner, default = _resolve_class_type(field.type), default_of(field)
        if dataclasses.is_dataclass(inner):
            own = walk_values(default) if dataclasses.is_dataclass(default) else None
            walk(inner, name + ".", keys, opened)
            keys.update({name + "." + key: plain(value) for key, value in (own or {}).items() if name + "." + key in keys})
            continue
        if isinstance(default, dict) or "Dict[" in str(field.type):
            opened.append(name)
        keys[name] = None if default is dataclasses.MISSING else plain(default)


def walk_values(made, prefix=""):
    """Leaves of what a section is made with, which may differ from its class."""
    found = {}
    for field in dataclasses.fields(made):
        value = getattr(made, field.name)
        if dataclasses.is_dataclass(value):
            found.update(walk_values(value, prefix + field.name + "."))
        else:
            found[prefix + field.name] = value
    return found


keys, opened = {}, []
walk(SkyRLTrainConfig, "", keys, opened)
# Where none is named, a config that is made has the path of the policy.
keys["trainer.ref.model.path"] = None
print(json.dumps({"version": version("skyrl"), "open": sorted(opened), "keys": keys}, indent=0, sort_keys=True))
