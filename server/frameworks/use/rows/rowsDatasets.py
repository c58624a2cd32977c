"""A stand-in for `datasets` where that package is not installed: as much of it as scripts use to make rows of local data.

Rows are dicts in a list. What is not here raises `Lacking`, which names it. Files that Python cannot read by itself
(Parquet, Arrow, the Hugging Face cache) are asked of Gradus.
"""
import csv
import json
import os
import random
import re


class Lacking(Exception):
    """What only the package itself has."""


class Dataset:
    def __init__(self, rows, columns=None):
        self._rows = list(rows)
        self._columns = columns

    @classmethod
    def from_list(cls, mapping, **_):
        return cls(dict(each) for each in mapping)

    @classmethod
    def from_dict(cls, mapping, **_):
        return cls(dict(zip(mapping, values)) for values in zip(*mapping.values()))

    @classmethod
    def from_generator(cls, generator, gen_kwargs=None, **_):
        return cls(dict(each) for each in generator(**(gen_kwargs or {})))

    @staticmethod
    def from_json(path_or_paths, **_):
        return load_dataset("json", data_files=path_or_paths, split="train")

    from_csv = from_parquet = from_json

    @property
    def column_names(self):
        return self._columns or list(self._rows[0] if self._rows else {})

    @property
    def num_rows(self):
        return len(self._rows)

    def __len__(self):
        return len(self._rows)

    def __iter__(self):
        return (dict(row) for row in self._rows)

    def __getitem__(self, key):
        if isinstance(key, str):
            return [row[key] for row in self._rows]
        if isinstance(key, int):
            return dict(self._rows[key])
        rows = self._rows[key] if isinstance(key, slice) else [self._rows[int(at)] for at in key]
        return _columns_of(rows)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise Lacking("needs the package `datasets`, which is not installed, for its `.%s`" % name)

    def map(self, function=None, with_indices=False, batched=False, batch_size=1000, remove_columns=None, fn_kwargs=None, **named):
        if named.get("input_columns") is not None:
            raise Lacking("needs the package `datasets`, which is not installed, for `input_columns`")
        drop = [remove_columns] if isinstance(remove_columns, str) else list(remove_columns or [])
        step = (batch_size or max(1, len(self))) if batched else 1
        made = []
        for start in range(0, len(self), step):
            rows = self._rows[start : start + step]
            places = list(range(start, start + len(rows)))
            value = _columns_of(rows) if batched else dict(rows[0])
            given = [places if batched else start] if with_indices else []
            new = function(value, *given, **(fn_kwargs or {})) or {}
            merged = {name: each for name, each in (_columns_of(rows) if batched else rows[0]).items() if name not in drop}
            merged.update(new)
            made += [dict(zip(merged, values)) for values in zip(*merged.values())] if batched else [merged]
        return Dataset(made)

    def filter(self, function=None, with_indices=False, batched=False, fn_kwargs=None, **named):
        kept = self.map(lambda *each, **given: {"_": function(*each, **given)}, with_indices, batched, fn_kwargs=fn_kwargs, **named)
        return Dataset([row for row, each in zip(self._rows, kept) if each["_"]], self.column_names)

    def select(self, indices, **_):
        return Dataset([self._rows[int(at)] for at in indices if int(at) < len(self)], self.column_names)

    def take(self, n):
        return Dataset(self._rows[:n], self.column_names)

    def shuffle(self, seed=None, **_):
        return Dataset(random.Random(seed or 0).sample(self._rows, len(self)), self.column_names)

    def rename_columns(self, column_mapping, **_):
        return Dataset({column_mapping.get(name, name): value for name, value in row.items()} for row in self._rows)

    def rename_column(self, original_column_name, new_column_name, **_):
        if original_column_name not in self.column_names:
            raise ValueError("there is no column `%s`: there are %s" % (original_column_name, ", ".join(self.column_names)))
        return self.rename_columns({original_column_name: new_column_name})

    def remove_columns(self, column_names, **_):
        names = [column_names] if isinstance(column_names, str) else column_names
        return Dataset({name: value for name, value in row.items() if name not in names} for row in self._rows)

    def train_test_split(self, test_size=0.25, seed=None, shuffle=True, **_):
        rows = self.shuffle(seed) if shuffle else self
        count = int(len(rows) * test_size) if isinstance(test_size, float) else min(int(test_size), len(rows) - 1)
        end = len(rows) - count
        return DatasetDict(train=rows.take(end), test=rows.select(range(end, len(rows))))


class DatasetDict(dict):
    """Splits. A method of a dataset holds for each of them."""

    def __getattr__(self, name):
        if name.startswith("__") or not hasattr(Dataset, name):
            raise AttributeError(name)
        if name in ("column_names", "num_rows"):
            return {split: getattr(one, name) for split, one in self.items()}
        return lambda *given, **named: DatasetDict({split: getattr(one, name)(*given, **named) for split, one in self.items()})


IterableDataset, IterableDatasetDict = Dataset, DatasetDict


def _columns_of(rows):
    return {name: [row.get(name) for row in rows] for name in (rows[0] if rows else {})}


def concatenate_datasets(dsets, **_):
    return Dataset(row for each in dsets for row in each)


# Reads what only Gradus can: (path, name, split, revision) -> rows, or None. Set by the host.
ask = None


def _read(file):
    if file.endswith(".csv"):
        with open(file, newline="", encoding="utf-8-sig") as stream:
            return list(csv.DictReader(stream))
    if not re.search(r"\.jsonl?$", file):
        return ask(os.path.abspath(file), None, None, None)
    with open(file, encoding="utf-8-sig") as stream:
        text = stream.read()
    if text.lstrip().startswith("["):
        return json.loads(text)
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _files(data_files):
    given = [data_files] if isinstance(data_files, (str, os.PathLike)) else list(data_files)
    return [row for file in map(os.fspath, given) for row in _read(file)]


def _part(rows, split):
    """`train[:100]`, `train[10%:20%]`."""
    found = re.search(r"\[(-?\d*%?):(-?\d*%?)\]$", split)
    if not found:
        return Dataset(rows)
    of = lambda text: None if not text else len(rows) * int(text[:-1]) // 100 if text[-1] == "%" else int(text)  # noqa: E731
    return Dataset(rows[of(found.group(1)) : of(found.group(2))])


def load_dataset(path, name=None, data_dir=None, data_files=None, split=None, revision=None, **_):
    if isinstance(split, (list, tuple)):
        return [load_dataset(path, name, data_dir, data_files, each, revision) for each in split]
    splits = data_files if isinstance(data_files, dict) else None
    names = [re.sub(r"\[.*", "", split)] if isinstance(split, str) else list(splits or ["train"])

    def rows_of(each):
        if data_files is not None:
            return _files(splits[each] if splits else data_files)
        if os.path.isfile(path):
            return _read(path)
        place = os.path.abspath(path) if os.path.isdir(path) else path
        return ask(place if data_dir is None else os.path.join(place, data_dir), name, each, revision)

    if isinstance(split, str):
        return _part(rows_of(names[0]), split)
    if splits is None and data_files is None:
        return _Lazy(rows_of)
    return DatasetDict({each: Dataset(rows_of(each)) for each in names})


class _Lazy(DatasetDict):
    """Of a name without a split: each is read when it is asked for."""

    def __init__(self, read):
        super().__init__()
        self._read = read

    def __missing__(self, split):
        self[split] = Dataset(self._read(split))
        return self[split]

    def __getattr__(self, name):
        self["train"]
        return super().__getattr__(name)


def load_from_disk(dataset_path, **_):
    return Dataset(ask(os.path.abspath(dataset_path), None, None, None))
