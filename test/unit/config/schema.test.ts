/** The JSON Schema, by a validator that knows nothing of ours: right configs pass, mistakes of form do not. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { z } from "zod";
import { configSchema } from "../../../server/config/grammar/jsonSchema.ts";
import { isCurriculumTest } from "../../../server/analysis/curriculumTests/read.ts";
import { loadConfig } from "../../../server/rules/load.ts";

const ajv = new Ajv2020({ allErrors: false, strict: false, validateFormats: false });
const valid = ajv.compile(JSON.parse(JSON.stringify(configSchema())));
const rules = "test/fixtures/config/rules";

const below = (folder: string): string[] =>
  readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((file) => /\.ya?ml$/.test(file) && !isCurriculumTest(file))
    .sort();
/** Presets tell of themselves under a key that configs do not have. */
function read(file: string): unknown {
  const { preset: _, ...config } = z
    .looseObject({})
    .parse(parse(readFileSync(file, "utf8"), { merge: true }));
  return config;
}

describe("the JSON Schema accepts", () => {
  for (const file of [...below("examples"), ...below("presets")])
    it(file, () => {
      assert.ok(valid(read(file)), ajv.errorsText(valid.errors));
    });

  it("every near miss of the rules", () => {
    for (const file of below(rules).filter((name) => name.includes(".ok.")))
      assert.ok(valid(read(file)), `${file}: ${ajv.errorsText(valid.errors)}`);
  });
});

describe("the JSON Schema and the reader agree on sizes of memory", () => {
  for (const [size, isOne] of [
    ...["64GiB", "500 MB", "1.5 tb", "8gib", "12 B", "2Kib"].map((text) => [text, true] as const),
    ...["64", "GiB", "64 parsecs", "-1GiB", "6,4GiB", "64GiBs"].map((text) => [text, false] as const),
  ])
    it(size, () => {
      const config = { model: { base: "tiny" }, tasks: [{ env: "countdown" }], engine: { memory: size } };
      assert.equal(valid(config), isOne);
      const found = loadConfig("sizes.gradus.yaml", { text: JSON.stringify(config) }).diagnostics;
      assert.equal(
        found.some(({ key }) => key === "engine.memory"),
        !isOne,
      );
    });
});

/** What can be found from the form of one file alone. */
const structural = ["unknown-key", "unknown-value", "type", "missing-key"];

describe("the JSON Schema refuses", () => {
  const broken = below(rules).filter((file) => {
    const found = loadConfig(file).diagnostics;
    return found.some(
      ({ rule, severity, related }) =>
        severity === "error" && structural.includes(rule) && related === undefined,
    );
  });
  for (const file of broken)
    it(file, () => {
      assert.equal(valid(read(file)), false);
    });

  const mistakes: readonly [what: string, text: string][] = [
    ["a misspelt key", "taskz: []"],
    ["a misspelt key below", "rollout: { gruop: 8 }"],
    ["a method that is not there", "advantage: { baseline: group_meen }"],
    ["a parameter of another method", "objective: { use: clipped, epsilon_scale: 2 }"],
    ["a number that is text", 'rollout: { group: "8" }'],
    ["a number out of its range", "rollout: { temperature: -1 }"],
    ["a map where a list stands", "stages: 3"],
  ];
  for (const [what, text] of mistakes)
    it(what, () => {
      assert.equal(valid(parse(text)), false);
    });
});
