"""Tasks and scores of reasoning-gym, under the Python that has the package.

As a program it reads {"values": [VALUE], "seed", "size"} from stdin and writes one line of JSON for each value:
{"tasks": [{"index", "question", "answer"}]}, or {"error", "absent"} and nothing more. As a module it has `score`.
A VALUE is {"dataset", "level", "config", "attributes"}; level None takes the configuration as it is.
"""
import functools
import json
import sys


@functools.lru_cache(maxsize=64)
def made(text):
    import reasoning_gym
    from reasoning_gym.factory import CURRICULA, DATASETS

    value = json.loads(text)
    name, level, config, attributes = (value[key] for key in ("dataset", "level", "config", "attributes"))
    if name not in DATASETS:
        raise KeyError("reasoning-gym has no dataset `%s`. It has %s" % (name, ", ".join(sorted(DATASETS))))
    kept = dict(config, seed=value["seed"], size=value["size"])
    if level is None and not attributes:
        return reasoning_gym.create_dataset(name, **kept)
    if name not in CURRICULA:
        raise KeyError("the dataset `%s` has no curriculum, so it takes no level" % name)
    curriculum = CURRICULA[name]()
    curriculum.set_global_level(level or 0)
    for attribute, own in attributes.items():
        if attribute not in curriculum.attributes:
            known = ", ".join(sorted(curriculum.attributes))
            raise KeyError("the curriculum of `%s` has no attribute `%s`. It has %s" % (name, attribute, known))
        curriculum.set_attr_level(attribute, own)
    configuration = curriculum.generate_configuration(kept)
    if hasattr(configuration, "validate"):
        configuration.validate()
    return DATASETS[name][0](config=configuration)


@functools.lru_cache(maxsize=4096)
def entry_of(text, index):
    return made(text)[index]


def score(rows):
    """[{"value", "index", "question", "answer"}] -> JSON of [number or message]. `answer` None: there is none."""
    import reasoning_gym  # noqa: F401  # a Python without it says so before the first answer

    scores = []
    for row in rows:
        text = json.dumps(row["value"], sort_keys=True)
        entry = entry_of(text, row["index"])
        if entry["question"] != row["question"]:
            scores.append("this reasoning-gym makes another task of this number: the rollout was made with another version")
            continue
        try:
            scores.append(float(made(text).score_answer(row["answer"], entry)))
        except Exception:  # some datasets read an answer as they expect it, and throw at any other
            scores.append(0.0)
    return json.dumps(scores)


def main():
    request = json.load(sys.stdin)
    try:
        for value in request["values"]:
            dataset = made(json.dumps(dict(value, seed=request["seed"], size=request["size"]), sort_keys=True))
            entries = [(index, dataset[index]) for index in range(request["size"])]
            rows = [{"index": at, "question": each["question"], "answer": each["answer"]} for at, each in entries]
            print(json.dumps({"tasks": [dict(row, answer=None if row["answer"] is None else str(row["answer"])) for row in rows]}))
    except ModuleNotFoundError as error:
        print(json.dumps({"error": str(error), "absent": error.name == "reasoning_gym"}))
    except Exception as error:
        print(json.dumps({"error": str(error.args[0]) if error.args else repr(error), "absent": False}))


if __name__ == "__main__":
    main()
