/** Files that are none, or lie about their size: each is refused in a sentence, at once, and nothing is allocated. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  rmSync,
  truncateSync,
  writeFileSync,
  cpSync,
  readFileSync,
  openSync,
  writeSync,
  closeSync,
  symlinkSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { UserError } from "../../shared/lib/errors.ts";
import { check } from "../../server/cli/validate/check.ts";
import { loadConfig } from "../../server/rules/load.ts";
import { readPastCurricula } from "../../server/methods/curriculum/pastCurriculum.ts";
import { jsonLines } from "../../server/lib/jsonLines.ts";
import { readHistory } from "../../server/analysis/history/read.ts";
import { readRegular, readText, regularFile } from "../../server/lib/inputFile.ts";
import { openBase, readWeights } from "../../server/engine/formats/index.ts";
import { SafetensorsFile } from "../../server/engine/weights/safetensors.ts";
import { bundleReward } from "../../server/methods/reward/own/bundleReward.ts";
import { rowsOf } from "../../server/methods/tasks/datasetRows.ts";
import { documentsOf } from "../../server/methods/tasks/corpusText.ts";
import { textLines } from "../../server/lib/textLines.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-inputs-"));
const at = (name: string): string => join(folder, name);
const put = (name: string, data: string | Uint8Array): string => {
  writeFileSync(at(name), data);
  return at(name);
};
execFileSync("mkfifo", [
  at("pipe"),
  at("pipe.jsonl"),
  at("pipe.ts"),
  at("pipe.gguf"),
  at("pipe.yaml"),
  at("pipe.json"),
]);
symlinkSync("/dev/zero", at("device.ts"));
const server = createServer().listen(at("socket"));
after(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

/** With little memory: what is endless is not read. */
function sparingly<Value>(work: () => Value): Value {
  const before = process.memoryUsage().rss;
  const value = work();
  assert.ok(process.memoryUsage().rss - before < 300 * 2 ** 20, "memory");
  return value;
}

describe("what is no regular file", () => {
  const kinds = { pipe: /named pipe/, socket: /socket/, "": /folder/ } as const;
  for (const [name, words] of Object.entries(kinds))
    it(`is refused: ${name || "folder"}`, () => {
      assert.throws(() => regularFile(at(name)), words);
      assert.throws(() => readText(at(name)), words);
      assert.throws(() => [...rowsOf(at(name))], words);
      assert.throws(() => documentsOf(at(name)), words);
      assert.throws(() => readPastCurricula([at(name)]), words);
    });

  it("devices are refused by every reader", async () => {
    for (const read of [
      () => readRegular("/dev/zero"),
      () => [...rowsOf("/dev/zero")],
      () => documentsOf("/dev/zero"),
      () => openBase("/dev/zero"),
      () => new SafetensorsFile("/dev/zero"),
      () => [...textLines("/dev/zero")],
    ])
      assert.throws(() => sparingly<unknown>(read), /device/);
    await assert.rejects(readHistory("/dev/zero"), /device/);
    await assert.rejects(readHistory(at("pipe")), /named pipe/);
    await assert.rejects(bundleReward("/dev/zero", "t"), /device/);
    await assert.rejects(bundleReward(at("pipe.ts"), "t"), /named pipe/);
    assert.throws(() => openBase(at("pipe.gguf")), /pipe/);
    assert.throws(() => openBase(at("socket")), /socket/);
  });

  it("validate says so once, of the config and of what it names", () => {
    for (const file of [at("pipe.yaml"), "/dev/zero", at("pipe")]) {
      const told = check({ file, found: false }, { set: [], skipOthers: false, fix: false });
      assert.equal(told?.diagnostics.length, 1);
      assert.match(told.diagnostics[0]!.message, /cannot be read: it is a (named pipe|device), not a file/);
    }
    const head = "reward: { terms: { c: { use: exact_match } } }\n";
    for (const [text, words] of [
      [
        `${head}tasks: [{ dataset: ./pipe.jsonl, answer: "{a}" }]\n`,
        /pipe\.jsonl` cannot be read: it is a named pipe/,
      ],
      [`${head}tasks: [{ dataset: /dev/zero, answer: "{a}" }]\n`, /zero` cannot be read: it is a device/],
      [
        "tasks: [{ env: countdown }]\nreward: { terms: { c: { use: ./pipe.ts } } }\n",
        /`pipe\.ts` for the reward `c` cannot be read: it is a named pipe/,
      ],
      [
        `tasks: [{ env: countdown }]\nmodel: ./pipe.gguf\nreward: { terms: { c: { use: equation } } }\n`,
        /There is no model at/,
      ],
    ] as const) {
      const errors = sparingly(() => loadConfig(put("x.gradus.yaml", text))).diagnostics.filter(
        ({ severity }) => severity === "error",
      );
      assert.deepEqual(
        errors.map(({ message }) => words.test(message)),
        [true],
        JSON.stringify(errors),
      );
    }
  });
});

describe("long lines", () => {
  it("are refused with file and line, whatever their length", async () => {
    for (const megabytes of [300, 600]) {
      const file = put(`long${megabytes}.jsonl`, '{"prompt": "a"}\n{"prompt": "');
      truncateSync(file, megabytes * 2 ** 20);
      const isPlaced = (error: unknown): boolean =>
        error instanceof UserError &&
        /longer than 64 MB/.test(error.message) &&
        error.detail.file === file &&
        error.detail.line === 1;
      assert.throws(() => sparingly(() => [...rowsOf(file)]), isPlaced);
      const missing = { what: "rows", code: "rows", action: "" };
      await assert.rejects(
        jsonLines(file, (text) => text, missing),
        isPlaced,
      );
      rmSync(file);
    }
  });

  it("lines are those that a split gives", () => {
    for (const text of [
      "",
      "a",
      "a\n",
      "a\nb",
      "\n\nä\n",
      "a\r\nb\r\n",
      `${"x".repeat(2 ** 20)}\n${"ä".repeat(2 ** 20)}`,
    ]) {
      const wanted = text.split(/\r?\n/);
      if (wanted.at(-1) === "") wanted.pop();
      assert.deepEqual([...textLines(put("lines.txt", text))], wanted);
    }
  });
});

describe("headers that lie", () => {
  const u32 = (value: number): Buffer => {
    const b = Buffer.alloc(4);
    b.writeUInt32LE(value);
    return b;
  };
  const u64 = (value: bigint): Buffer => {
    const b = Buffer.alloc(8);
    b.writeBigUInt64LE(value);
    return b;
  };
  const text = (value: string): Buffer => Buffer.concat([u64(BigInt(value.length)), Buffer.from(value)]);
  const gguf = (tensors: bigint, keys: bigint, ...rest: Buffer[]): Buffer =>
    Buffer.concat([Buffer.from("GGUF"), u32(3), u64(tensors), u64(keys), ...rest, Buffer.alloc(64)]);
  const nested = (depth: number): Buffer =>
    Buffer.concat(Array.from({ length: depth }, () => Buffer.concat([u32(9), u64(1n)])));

  for (const [what, data, words] of [
    ["2^40 tensors", gguf(2n ** 40n, 0n), /claims 1099511627776 tensors/],
    ["200,000 nested arrays", gguf(0n, 1n, text("k"), u32(9), nested(200_000)), /nested too deeply/],
    [
      "an array of 2^40 values",
      gguf(0n, 1n, text("k"), u32(9), u32(0), u64(2n ** 40n)),
      /array of 1099511627776 values/,
    ],
    ["a text of 2^50 bytes", gguf(0n, 1n, u64(2n ** 50n)), /cut short/],
    ["2^40 keys", gguf(0n, 2n ** 40n), /cut short|type/],
  ] as const)
    it(`GGUF: ${what}`, () => {
      const file = put("lie.gguf", data);
      assert.throws(() => sparingly(() => openBase(file)), words);
    });

  it("GGUF: an array as long as a large file", () => {
    const file = put("wide.gguf", gguf(0n, 1n, text("k"), u32(9), u32(0), u64(2n ** 30n)));
    truncateSync(file, 2 ** 31);
    assert.throws(() => sparingly(() => openBase(file)), /array of 1073741824 values/);
  });

  it("safetensors: a header of 2 GB", () => {
    const file = put("lie.safetensors", u64(2n ** 31n));
    truncateSync(file, 2 ** 32);
    assert.throws(() => sparingly(() => new SafetensorsFile(file)), /at most 100 MB are allowed/);
  });

  it("config.json: 2^30 and 10^6 layers, and more than there are tensors", () => {
    const model = at("model");
    cpSync("test/fixtures/architectures/llama", model, { recursive: true });
    const config = JSON.parse(readFileSync(join(model, "config.json"), "utf8")) as Record<string, unknown>;
    for (const [layers, words] of [
      [2 ** 30, /num_hidden_layers/],
      [1e6, /num_hidden_layers/],
      [4000, /says 4000 layers, and the weights have \d+ tensors/],
    ] as const) {
      writeFileSync(join(model, "config.json"), JSON.stringify({ ...config, num_hidden_layers: layers }));
      assert.throws(() => sparingly(() => readWeights(openBase(model))), words);
    }
  });

  it("config.json and tokenizer.json of many gigabytes", () => {
    const model = at("large");
    mkdirSync(model);
    for (const name of ["config.json", "tokenizer.json"]) {
      cpSync("test/fixtures/architectures/llama", model, { recursive: true });
      const handle = openSync(join(model, name), "w");
      writeSync(handle, "{");
      closeSync(handle);
      truncateSync(join(model, name), 8 * 2 ** 30);
      assert.throws(() => sparingly(() => openBase(model)), /8192 MB/);
    }
  });
});

for (const [what, target, reason, name] of [
  ["a pipe", "./pipe.ts", "it is a named pipe, not a file", "pipe.ts"],
  ["a device", "./device.ts", "it is a device, not a file", "/dev/zero"],
  ["a pipe as data", "./pipe.json", "it is a named pipe, not a file", "pipe.json"],
] as const)
  it(`refuses a reward that imports ${what}, at the import`, async () => {
    const reward = put(
      "imports.ts",
      `// a comment\nimport * as it from "${target}";\nexport default () => it;\n`,
    );
    await assert.rejects(bundleReward(reward, "correct"), (error: unknown) => {
      assert.ok(error instanceof UserError);
      assert.match(error.message, new RegExp(`^reward term "correct": .*${name} cannot be read: ${reason}$`));
      const { file, line, character } = error.detail;
      assert.deepEqual({ file, line, character }, { file: reward, line: 1, character: 20 });
      return true;
    });
  });
