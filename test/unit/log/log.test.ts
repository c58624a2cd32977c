import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import zlib from "node:zlib";
import { crc32, tableCrc32 } from "../../../shared/log/crc32.ts";
import type { LogRecord } from "../../../shared/log/records.ts";
import {
  attemptsOf,
  logStart,
  readCommitted,
  type CommittedStep,
  type LogPosition,
  type LogProblem,
} from "../../../shared/log/reader.ts";
import { openAttempt, segmentPath } from "../../../shared/log/writer.ts";
import {
  acknowledge,
  criteria,
  judged,
  checkpoint,
  end,
  evaluation,
  event,
  group,
  made,
  metrics,
  rollout,
  stage,
  start,
  type Written,
} from "./sample.ts";
import { needs } from "../../support/system.ts";

const folders: string[] = [];
const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), "gradus-log-"));
  folders.push(path);
  return path;
};
after(() => folders.forEach((path) => rmSync(path, { recursive: true, force: true })));

/** Reads until there is nothing more. */
function readAll(run: string, attempt = 0, from: LogPosition = logStart, budget?: number) {
  const steps: CommittedStep[] = [];
  const problems: LogProblem[] = [];
  let position = from;
  for (let rounds = 0; rounds < 10_000; rounds++) {
    const result = readCommitted(run, attempt, position, budget);
    steps.push(...result.steps);
    problems.push(...result.problems);
    position = result.position;
    if (!result.more) return { steps, problems, position };
  }
  throw new Error("the reader never ends");
}
const everything: readonly (readonly [readonly Written[], number])[] = [
  [[start()], -1],
  [
    [
      stage(0),
      metrics(0, { "reward/total": 0.1, "update/loss": "NaN", a: "-Infinity" }),
      group(0),
      rollout(0, 0),
      rollout(0, 1),
      event(0),
    ],
    0,
  ],
  [[metrics(1), evaluation(1, "first"), checkpoint(1)], 1],
  [[criteria(1), judged(1, 2, [0.5, null])], 1],
  [[acknowledge(1, "c-1"), made(1), end(1)], 1],
];
const write = (
  run: string,
  steps: readonly (readonly [readonly Written[], number])[],
  options?: { segmentBytes: number },
): void => {
  const log = openAttempt(run, 0, options);
  for (const [records, step] of steps) {
    records.forEach((record) => log.append(record));
    log.commit(step);
  }
  log.close();
};

test("crc32 agrees with zlib's test value, and the table with zlib", () => {
  assert.equal(crc32(Buffer.from("123456789")), 0xcbf43926);
  for (const text of ["", "a", "123456789", "\0\xff".repeat(1000)]) {
    const bytes = Buffer.from(text, "latin1");
    assert.equal(tableCrc32(bytes), crc32(bytes));
    // The trailer of a gzip stream is an independent source of the same sum.
    assert.equal(zlib.gzipSync(bytes).readUInt32LE(zlib.gzipSync(bytes).length - 8), crc32(bytes));
  }
});

test("a segment's bytes are as documented", () => {
  const run = folder();
  write(run, [[[checkpoint(3)], 3]]);
  const bytes = readFileSync(segmentPath(run, 0, 0));
  assert.equal(bytes.toString("latin1", 0, 8), "GRADUSLG");
  assert.equal(bytes.readUInt32LE(8), 1);
  const payload = '{"step":3,"path":"checkpoints/3","bytes":1234}';
  assert.equal(bytes.readUInt32LE(12), payload.length);
  assert.equal(bytes.readUInt8(20), 7);
  assert.equal(bytes.toString("utf8", 21, 21 + payload.length), payload);
  assert.equal(
    bytes.readUInt32LE(16),
    zlib
      .gzipSync(bytes.subarray(20, 21 + payload.length))
      .readUInt32LE(zlib.gzipSync(bytes.subarray(20, 21 + payload.length)).length - 8),
  );
  assert.equal(bytes.toString("utf8", 21 + payload.length + 9), '{"step":3}');
});

test("every kind comes back as it was written, columns with their types", () => {
  const run = folder();
  write(run, everything);
  const { steps, problems } = readAll(run);
  assert.deepEqual(problems, []);
  assert.deepEqual(
    steps.map(({ step }) => step),
    everything.map(([, step]) => step),
  );
  assert.deepEqual(
    steps.map(({ records }) => records),
    everything.map(([records]) => records),
  );
  assert.deepEqual(attemptsOf(run), [0]);
});

test("non-finite numbers that slip into JSON become their wire strings, never null", () => {
  const run = folder();
  write(run, [[[metrics(0, { a: Number.NaN, b: Number.NEGATIVE_INFINITY })], 0]]);
  assert.deepEqual(readAll(run).steps[0]?.records, [metrics(0, { a: "NaN", b: "-Infinity" })]);
});

test("uncommitted records are not exposed; reading on from a position neither repeats nor misses a step", () => {
  const run = folder();
  const log = openAttempt(run, 0);
  let position = logStart;
  const seen: number[] = [];
  for (let step = 0; step < 20; step++) {
    const before = readAll(run, 0, position).steps.length;
    log.append(metrics(step));
    assert.equal(readAll(run, 0, position).steps.length, before);
    log.commit(step);
    assert.equal(readAll(run, 0, position).steps.length, before + 1);
    if (step % 3 !== 2) continue;
    const result = readAll(run, 0, position, 64);
    position = result.position;
    seen.push(...result.steps.map((item) => item.step));
  }
  log.close();
  assert.deepEqual(
    seen,
    Array.from({ length: 18 }, (_, step) => step),
  );
});

test("segments rotate between steps and are read as one log", () => {
  const run = folder();
  write(
    run,
    Array.from({ length: 30 }, (_, step) => [[metrics(step), rollout(step, 0)], step] as const),
    { segmentBytes: 2000 },
  );
  assert.ok(readdirSync(join(run, "log", "0")).length > 3);
  assert.deepEqual(
    readAll(run).steps.map(({ step }) => step),
    Array.from({ length: 30 }, (_, step) => step),
  );
});

test("a torn tail waits at the end, is dropped with a note once a new segment exists, and is never appended to", () => {
  const run = folder();
  write(run, everything);
  const first = segmentPath(run, 0, 0);
  const whole = readAll(run);
  truncateSync(first, statSync(first).size - 5);
  const cut = readAll(run);
  assert.deepEqual(cut.steps.length, everything.length - 1);
  assert.deepEqual(cut.problems, []);
  const size = statSync(first).size;
  const log = openAttempt(run, 0);
  log.append(metrics(2));
  log.commit(2);
  log.close();
  assert.equal(statSync(first).size, size);
  const after = readAll(run, 0, cut.position);
  assert.deepEqual(
    after.steps.map(({ step }) => step),
    [2],
  );
  assert.deepEqual(
    after.problems.map(({ name, severity }) => [name, severity]),
    [["log/torn", "info"]],
  );
  assert.equal(whole.problems.length, 0);
});

test("every truncation of a segment gives a prefix of its steps and no problem", () => {
  const run = folder();
  write(run, everything);
  const bytes = readFileSync(segmentPath(run, 0, 0));
  const commits = readAll(run).steps.map(({ position }) => position.offset);
  for (let length = 0; length <= bytes.length; length += 7) {
    writeFileSync(segmentPath(run, 0, 0), bytes.subarray(0, length));
    const { steps, problems } = readAll(run);
    assert.equal(steps.length, commits.filter((offset) => offset <= length).length);
    assert.deepEqual(problems, []);
  }
});

test("a bad checksum stops that segment once, with what is before it kept and the next segment read", () => {
  const run = folder();
  write(run, everything);
  const path = segmentPath(run, 0, 0);
  const bytes = readFileSync(path);
  const second = readAll(run).steps[1]?.position.offset ?? 0;
  bytes.writeUInt8(bytes.readUInt8(second + 30) ^ 1, second + 30);
  writeFileSync(path, bytes);
  const result = readAll(run);
  assert.equal(result.steps.length, 2);
  assert.deepEqual(
    result.problems.map(({ name, severity }) => [name, severity]),
    [["log/checksum", "error"]],
  );
  assert.equal(result.position.stopped, true);
  assert.deepEqual(readAll(run, 0, result.position).problems, []);
  appendFileSync(path, bytes.subarray(12));
  assert.deepEqual(readAll(run, 0, result.position).steps, []);
  const log = openAttempt(run, 0);
  log.append(metrics(7));
  log.commit(7);
  log.close();
  assert.deepEqual(
    readAll(run, 0, result.position).steps.map(({ step }) => step),
    [7],
  );
});

test("a file that is no segment, and one of a later version, stop with a message", () => {
  for (const [head, words] of [
    ["NOTALOG!\x01\0\0\0", /not a segment/],
    ["GRADUSLG\x09\0\0\0", /version 9/],
  ] as const) {
    const run = folder();
    write(run, [[[metrics(0)], 0]]);
    writeFileSync(
      segmentPath(run, 0, 0),
      Buffer.concat([Buffer.from(head, "latin1"), readFileSync(segmentPath(run, 0, 0)).subarray(12)]),
    );
    const { steps, problems } = readAll(run);
    assert.deepEqual(steps, []);
    assert.match(problems[0]?.message ?? "", words);
  }
});

test("the Python writer's bytes are the TypeScript writer's, and its log reads back", needs.python, () => {
  const run = folder();
  const awkward: Written = metrics(2, {
    zero: 0,
    negative: -0,
    third: 1 / 3,
    tiny: 1e-7,
    small: 0.000001,
    big: 1e21,
    large: 123456789012345680000,
    exact: 9007199254740992,
    whole: 5,
    sum: 0.1 + 0.2,
    least: 5e-324,
    most: 1.7976931348623157e308,
    milli: 0.001,
    many: 1e20,
  });
  const all: readonly (readonly [readonly Written[], number])[] = [
    ...everything,
    [[awkward, { ...event(2), message: '\u0007 \ud800 "\\\b\f\n\r\t\u007f\u2028 ß 漢 😀' } as Written], 2],
  ];
  write(run, all);
  const plain = all.map(([records, step]) => ({ step, records: records.map((record) => portable(record)) }));
  const script = `
import json, sys
sys.path.insert(0, sys.argv[1])
from gradus_log import open_attempt
log = open_attempt(sys.argv[2], 0)
def number(v): return float(v) if isinstance(v, str) else v
for step in json.load(sys.stdin):
    for record in step["records"]:
        kind = record.pop("kind")
        if kind == "rollout":
            log.rollout(record["step"], record["index"], record["row"], {n: (t, [number(v) for v in vs]) for n, (t, vs) in record["columns"].items()})
        else:
            log.append(kind, record)
    log.commit(step["step"])
log.close()
`;
  const other = folder();
  const python = spawnSync("python3", ["-c", script, join(process.cwd(), "shared/log"), other], {
    input: JSON.stringify(plain),
    encoding: "utf8",
  });
  assert.equal(python.status, 0, python.stderr);
  assert.ok(readFileSync(segmentPath(run, 0, 0)).equals(readFileSync(segmentPath(other, 0, 0))));
  assert.deepEqual(
    readAll(other).steps.map(({ records }) => records),
    readAll(run).steps.map(({ records }) => records),
  );
});

test("both writers print random numbers alike", needs.python, () => {
  const numbers = Array.from(
    { length: 4000 },
    (_, index) => (index % 2 === 0 ? 1 : -1) * (0.1 + Math.sin(index) ** 2) * 10 ** ((index % 640) / 2 - 160),
  );
  const script = `import json,sys; sys.path.insert(0, sys.argv[1]); import gradus_log; print("\\n".join(gradus_log.to_json(float(v)) for v in json.load(sys.stdin)))`;
  const python = spawnSync("python3", ["-c", script, join(process.cwd(), "shared/log")], {
    input: JSON.stringify(numbers),
    encoding: "utf8",
  });
  assert.equal(python.status, 0, python.stderr);
  assert.deepEqual(python.stdout.trim().split("\n"), numbers.map(String));
});

/** A record as JSON for the Python script: columns as [type, numbers], non-finite ones as strings. */
function portable(record: LogRecord): unknown {
  if (record.kind !== "rollout") return record;
  const columns = Object.fromEntries(
    Object.entries(record.columns).map(([name, column]) => {
      const type =
        column instanceof Int32Array
          ? "int32"
          : column instanceof Float32Array
            ? "float32"
            : column instanceof Float64Array
              ? "float64"
              : "uint8";
      return [
        name,
        [
          type,
          Array.from(column, (value) =>
            Number.isFinite(value) && !Object.is(value, -0)
              ? value
              : Object.is(value, -0)
                ? "-0.0"
                : String(value),
          ),
        ],
      ];
    }),
  );
  return { ...record, columns };
}
