import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { check } from "../../../server/cli/validate/check.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { configKind } from "../../../server/config/configKind.ts";
import { readFramework } from "../../../server/frameworks/trainers/read.ts";
import { readFrameworkDocument } from "../../../server/frameworks/check/index.ts";
import { formatting } from "../../../server/language/format/index.ts";
import { tolerantParse } from "../../../server/language/tolerant/tolerantParse.ts";
import { toJson } from "../../../server/config/text/node.ts";
import { stepsOf } from "../../support/steps.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-large-"));
after(() => rmSync(folder, { recursive: true }));

const put = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};
const config = "tasks: [{ env: arithmetic }]\nreward: { terms: { c: { use: exact_match } } }\n";
const list = (lines: number, line: (index: number) => string): string =>
  Array.from({ length: lines }, (_, index) => line(index)).join("\n");

/** Ten times ten times …: 10^levels values. */
const bomb = (levels: number, key = "x"): string =>
  [
    `${key}0: &a0 [1,1,1,1,1,1,1,1,1,1]`,
    ...Array.from(
      { length: levels - 1 },
      (_, level) =>
        `${key}${level + 1}: &a${level + 1} [${Array.from({ length: 10 }, () => `*a${level}`).join(",")}]`,
    ),
  ].join("\n");

/** What a text comes to, and the steps that it took: what expands to a million values takes more than a million. */
function counted<Value>(work: () => Value): { value: Value; steps: number } {
  let value: Value | undefined;
  const steps = stepsOf(() => (value = work()));
  return { value: value!, steps };
}

describe("aliases that multiply", () => {
  for (const levels of [6, 10])
    it(`are one diagnostic on their line, not expanded (10^${levels})`, () => {
      const file = put("bomb.gradus.yaml", `${bomb(levels)}\n${config}`);
      const { value, steps } = counted(() => loadConfig(file));
      assert.equal(value.diagnostics.length, 1, JSON.stringify(value.diagnostics).slice(0, 500));
      const [found] = value.diagnostics;
      assert.match(found!.message, /aliases expand to more than 100,000 values.*Write the values out/);
      assert.ok(found!.range.start.line >= 4 && found!.range.start.line < levels);
      assert.ok(steps < 1e6, `${steps} steps`);
    });

  it("count merge keys, and those of all blocks of a long file", () => {
    const merges = `x0: &a0 { ${list(10, (i) => `k${i}: 1`).replaceAll("\n", ", ")} }\n${list(
      8,
      (level) =>
        `x${level + 1}: &a${level + 1} { ${list(10, (i) => `m${i}: { <<: *a${level} }`).replaceAll("\n", ", ")} }`,
    )}\n`;
    assert.equal(loadConfig(put("merge.gradus.yaml", `${merges}${config}`)).diagnostics.length, 1);
    // Each block has its own anchors and few values: together they have too many.
    const block = (i: number): string =>
      `b${i}: { a: &a [${"1,".repeat(99)}], b: &b [${"*a,".repeat(30)}], c: [${"*b,".repeat(10)}] }`;
    const blocks = loadConfig(put("blocks.gradus.yaml", `${list(20, block)}\n${config}`));
    assert.equal(blocks.diagnostics.length, 1);
    assert.match(blocks.diagnostics[0]!.message, /aliases expand to/);
  });

  it("of several files are counted together", () => {
    const part = `reward: { terms: { c: { use: exact_match, args: { a: &a [${"1,".repeat(100)}], b: &b [${"*a,".repeat(100)}], c: [*b, *b, *b, *b, *b, *b] } } } }\n`;
    const names = list(5, (i) => `./part${i}.yaml`).split("\n");
    for (const name of names) put(name, part);
    const { diagnostics } = loadConfig(put("sum.gradus.yaml", `extends: [${names.join(", ")}]\n${config}`));
    assert.equal(diagnostics.filter(({ message }) => /aliases expand to/.test(message)).length, 1);
  });

  it("that have few values are followed as before", () => {
    const text = `tasks: [{ env: arithmetic }]\nreward: { terms: { c: &c { use: exact_match }, d: *c } }\n`;
    assert.deepEqual(
      loadConfig(put("few.gradus.yaml", text)).diagnostics.filter(({ severity }) => severity === "error"),
      [],
    );
    const { diagnostics } = loadConfig(put("none.gradus.yaml", `${config}seed: *nothing\n`));
    assert.match(diagnostics[0]!.message, /no anchor &nothing/);
  });

  it("stop neither the editor's reader of half-written text nor its formatter", () => {
    const text = `${bomb(12)}\nbroken: [`;
    const read = counted(() => tolerantParse(text, { file: "f", folder: "/", via: [], layer: "file" }));
    assert.ok(read.value !== undefined && JSON.stringify(toJson(read.value)).length < 2_000_000);
    const laidOut = counted(() => formatting("file:///f.yaml", `${bomb(12)}\n${config}`));
    assert.deepEqual(laidOut.value, []);
    assert.ok(read.steps + laidOut.steps < 1e6);
  });

  it("in another trainer's file are reported by validate and refused by convert", () => {
    const text = `actor_rollout_ref: { model: { path: m } }\n${bomb(10)}\n`;
    const file = put("verl.yaml", text);
    const told = counted(() => check({ file, found: false }, { set: [], skipOthers: false, fix: false }));
    assert.match(
      told.value?.diagnostics.map(({ message }) => message).join() ?? "",
      /aliases expand to more/,
    );
    assert.equal(readFrameworkDocument(file, text), undefined);
    assert.equal(configKind(text), "verl");
    assert.throws(() => readFramework(file, text), /aliases expand to too many/);
    assert.ok(told.steps < 1e6, `${told.steps} steps`);
  });
});

describe("long configs", () => {
  it("beyond 2 MB, and with too many values, are one diagnostic, on disk and in an editor", () => {
    const file = put("huge.gradus.yaml", "");
    truncateSync(file, 10 * 2 ** 20);
    const told = check({ file, found: false }, { set: [], skipOthers: false, fix: false });
    assert.match(told?.diagnostics.map(({ message }) => message).join() ?? "", /10 MB.*the most .* is 2 MB/);
    const dense = counted(() => loadConfig(file, { text: `a: [${"1,".repeat(900_000)}]\n` }));
    assert.equal(dense.value.diagnostics.length, 1);
    assert.match(dense.value.diagnostics[0]!.message, /about 300,000 values/);
    assert.ok(dense.steps < 1e6, `${dense.steps} steps`);
  });
});

describe("extends", () => {
  it("reads each file of a diamond once", () => {
    for (let level = 0; level < 20; level++)
      for (const side of ["l", "r"])
        put(
          `${side}${level}.yaml`,
          `extends: [./l${level + 1}.yaml, ./r${level + 1}.yaml]\nseed: ${level}\n`,
        );
    put("l20.yaml", config);
    put("r20.yaml", "name: deep\n");
    const { value, steps } = counted(() =>
      loadConfig(put("diamond.gradus.yaml", "extends: [./l0.yaml, ./r0.yaml]\n")),
    );
    assert.equal(value.files.length, 43);
    assert.equal(value.config?.name, "deep");
    assert.equal(value.config?.seed, 0);
    assert.ok(steps < 1e6, `${steps} steps`);
  });

  it("still reports a circle, and follows a chain of 3,000", () => {
    put("circle.yaml", "extends: ./round.gradus.yaml\n");
    const round = loadConfig(put("round.gradus.yaml", `extends: ./circle.yaml\n${config}`));
    assert.match(round.diagnostics[0]!.message, /goes in a circle/);
    for (let i = 0; i < 3000; i++) put(`c${i}.yaml`, i === 2999 ? config : `extends: ./c${i + 1}.yaml\n`);
    const chain = counted(() => loadConfig(put("chain.gradus.yaml", "extends: ./c0.yaml\n")));
    assert.ok(
      chain.value.diagnostics.every(({ severity }) => severity !== "error") ||
        chain.value.diagnostics.length === 1,
    );
    // Each file with each would take 4.5 million.
    assert.ok(chain.steps < 3e6, `${chain.steps} steps`);
  });

  it("names a pipe and a folder as what they are", () => {
    execFileSync("mkfifo", [join(folder, "pipe.yaml")]);
    const { diagnostics } = loadConfig(
      put(
        "pipes.gradus.yaml",
        `extends: [./pipe.yaml, ./../${folder.split("/").at(-1)}/, /dev/zero]\n${config}`,
      ),
    );
    const words = diagnostics.map(({ message }) => message).join("\n");
    assert.match(words, /pipe\.yaml` cannot be read: it is a named pipe/);
    assert.match(words, /cannot be read: it is a folder/);
    assert.match(words, /cannot be read: it is a device/);
  });

  it("names a pipe in the place of a reward and of a log as what it is", () => {
    execFileSync("mkfifo", [join(folder, "score.ts"), join(folder, "old.jsonl")]);
    const text = `tasks: [{ env: arithmetic }]
reward: { terms: { mine: { use: ./score.ts } } }
replay: { use: file, path: ./old.jsonl }
`;
    const { diagnostics } = loadConfig(put("named.gradus.yaml", text));
    const of = (rule: string): string => diagnostics.find((one) => one.rule === rule)?.message ?? "";
    assert.match(of("reward-file"), /score\.ts` for the reward `mine` cannot be read: it is a named pipe/);
    assert.match(of("replay-file"), /old\.jsonl` cannot be read: it is a named pipe[^?]*$/);
  });

  it("repeats nothing of a file that is no config", () => {
    put("shadow", "root:$6$SECRET$hash:19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\n");
    put("keys.env", "password: SECRET\nuser: SECRET2\n");
    put("secret.yaml", "- SECRET\n- more\n");
    for (const name of ["./shadow.yaml", "./secret.yaml"]) {
      put("shadow.yaml", "root:$6$SECRET$hash:19000:0\nSECRETKEY:x\n");
      const { diagnostics } = loadConfig(put("leak.gradus.yaml", `extends: ${name}\n${config}`));
      assert.equal(diagnostics.length, 1);
      assert.match(diagnostics[0]!.message, /is not a config/);
      assert.doesNotMatch(JSON.stringify(diagnostics), /SECRET/);
    }
  });
});
