"""Writes a Gradus run log from Python, with nothing but the standard library.

    log = open_attempt("runs/my-run", attempt=0)
    log.append("start", {...}); log.commit(-1)
    log.append("metrics", {"step": 0, "time": 1767225600000, "values": {"reward/total": 0.25}})
    log.rollout(step=0, index=0, row={"step": 0, "group": "task-17", "index": 0}, columns={"tokens": ("int32", [5, 7])})
    log.commit(0)
    log.close()

The format is described in records.ts; for equal records the bytes equal those of the TypeScript writer.
"""

import errno
import math
import os
import struct
import zlib

MAGIC = b"GRADUSLG"
VERSION = 1
SEGMENT_BYTES = 64 * 1024 * 1024
KINDS = {
    "start": 1, "metrics": 2, "group": 3, "rollout": 4, "event": 5, "evaluation": 6,
    "checkpoint": 7, "stage": 8, "acknowledge": 9, "end": 10, "commit": 11, "task": 12,
    "criteria": 13, "placed": 14,
}
# The logged columns of the table in shared/rollouts/columns.ts: a test compares the two.
COLUMNS = (
    "tokens",  # token id
    "origin",  # 0 the policy generated it, 1 it was prefilled, 2 the environment said it
    "mask",  # 1 where it trains
    "versions",  # number of the weights that wrote it; -1: none did
    "logp_old",  # log-prob by the model that generated, at temperature 1, unfiltered
    "logp_sampled",  # log-prob in the distribution that was drawn from
    "logp_new",  # log-prob by the weights as they are now
    "logp_ref",  # log-prob by the reference
    "logp_proximal",  # log-prob by the weights before the step's updates
    "entropy",  # entropy of the model that generated, in nats
    "values",  # value of the state before the token
    "sum_pi_squared",  # sum over the vocabulary of squared probabilities, at temperature 1
    "advantages",  # the advantage it trained with
    "context",  # token ids in front of the row when it was generated
    "train_context",  # token ids in front of the row when it trains, where others
)
FORMATS = {"int32": "i", "float32": "f", "float64": "d", "uint8": "B"}
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _number(value):
    """A float as ECMAScript writes it: shortest digits, exponent from 1e21 and below 1e-6; non-finite as wire strings."""
    if math.isnan(value):
        return '"NaN"'
    if math.isinf(value):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The value is 0.DIGITS * 10 ** point.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len((whole + fraction).lstrip("0")))
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    power = point - 1
    tail = "." + digits[1:] if count > 1 else ""
    return "%s%s%se%s%d" % (sign, digits[0], tail, "+" if power > 0 else "-", abs(power))


def _string(value):
    parts = ['"']
    for character in value:
        code = ord(character)
        if character in _ESCAPES:
            parts.append(_ESCAPES[character])
        elif code < 0x20 or 0xD800 <= code <= 0xDFFF:
            parts.append("\\u%04x" % code)
        else:
            parts.append(character)
    parts.append('"')
    return "".join(parts)


def to_json(value):
    """Compact JSON, byte for byte as JSON.stringify writes it (keys in the order given)."""
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        return str(value) if abs(value) <= 2**53 else _number(float(value))
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, dict):
        return "{" + ",".join(_string(str(key)) + ":" + to_json(item) for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(to_json(item) for item in value) + "]"
    if hasattr(value, "tolist"):  # an array or a number of NumPy
        return to_json(value.tolist())
    raise TypeError("a log record cannot hold a %s" % type(value).__name__)


def _record(kind, payload):
    body = bytes([KINDS[kind]]) + payload
    return struct.pack("<II", len(payload), zlib.crc32(body) & 0xFFFFFFFF) + body


def _column(kind, values):
    if isinstance(values, (bytes, bytearray, memoryview)):
        return bytes(values)
    return struct.pack("<%d%s" % (len(values), FORMATS[kind]), *values)


class LogWriter:
    """One attempt's log. Records wait in memory until commit, which writes a whole step at once."""

    def __init__(self, folder, attempt, segment_bytes=SEGMENT_BYTES):
        self._folder = os.path.join(folder, "log", str(attempt))
        os.makedirs(self._folder, exist_ok=True)
        taken = [int(name[:-4]) for name in os.listdir(self._folder) if name.endswith(".seg") and name[:-4].isdigit()]
        # A torn tail is never appended to: opening an attempt again begins a new segment.
        self._segment = max(taken, default=-1) + 1
        self._limit = segment_bytes
        self._pending = []
        self._descriptor = None
        self._committed = 0
        self._torn = False

    @property
    def file(self):
        return os.path.join(self._folder, "%d.seg" % self._segment)

    def append(self, kind, record):
        """Adds a record of any kind but `rollout` and `commit` to the step being assembled."""
        if kind in ("rollout", "commit") or kind not in KINDS:
            raise ValueError("append() takes %s" % ", ".join(k for k in KINDS if k not in ("rollout", "commit")))
        self._pending.append(_record(kind, to_json(record).encode("utf-8")))

    def rollout(self, step, index, row, columns=None):
        """Adds a rollout; `columns` maps a column's name to (type, numbers or little-endian bytes)."""
        columns = columns or {}
        unknown = set(columns) - set(COLUMNS)
        if unknown:
            raise ValueError("unknown columns: %s" % ", ".join(sorted(unknown)))
        header, arrays = [], []
        for name in COLUMNS:
            if name in columns:
                kind, values = columns[name]
                data = _column(kind, values)
                header.append({"name": name, "type": kind, "length": len(data) // struct.calcsize("<" + FORMATS[kind])})
                arrays.append(data)
        head = to_json({"step": step, "index": index, "row": row, "columns": header}).encode("utf-8")
        self._pending.append(_record("rollout", head + b"\0" + b"".join(arrays)))

    def commit(self, step):
        """Ends a step: its records become readable, all or none. After an OSError, calling it again tries again."""
        data = b"".join(self._pending) + _record("commit", to_json({"step": step}).encode("utf-8"))
        if self._descriptor is not None and (self._torn or self._committed >= self._limit):
            self._finish()
        self._open()
        if self._committed == 0:
            data = MAGIC + struct.pack("<I", VERSION) + data
        try:
            self._write(data)
        except OSError:
            self._cut_back()
            raise
        self._committed += len(data)
        self._pending = []

    def sync(self):
        """Flushes to the device: call it at checkpoints and at the end."""
        if self._descriptor is not None:
            os.fsync(self._descriptor)

    def close(self):
        """Flushes and closes; records that were never committed are dropped."""
        if self._descriptor is not None:
            self._finish()

    def _open(self):
        while self._descriptor is None:
            try:
                self._descriptor = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o644)
            except OSError as error:
                if error.errno != errno.EEXIST:
                    raise
                self._segment += 1

    def _finish(self):
        os.fsync(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = None
        self._segment += 1
        self._committed = 0
        self._torn = False

    def _write(self, data):
        os.lseek(self._descriptor, self._committed, os.SEEK_SET)
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view):]

    def _cut_back(self):
        try:
            os.ftruncate(self._descriptor, self._committed)
        except OSError:
            self._torn = True


def open_attempt(folder, attempt, segment_bytes=SEGMENT_BYTES):
    """Opens an attempt's log in a run's folder (`runs/<id>`) for writing."""
    return LogWriter(folder, attempt, segment_bytes)
