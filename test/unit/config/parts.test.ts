import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, it } from "node:test";
import { z } from "zod";
import { unclosed } from "../../../server/config/text/brackets.ts";
import { exportsOf } from "../../../server/config/check/exports.ts";
import { configKind } from "../../../server/config/configKind.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { configSchema, paramsSchema } from "../../../server/config/grammar/jsonSchema.ts";
import { pythonNames } from "../../../server/config/check/pythonNames.ts";
import { editDistance, nearest } from "../../../server/lib/suggest.ts";
import { files } from "../../../server/cli/starter/files.ts";
import { methods } from "../../../server/methods/index.ts";

describe("did you mean", () => {
  it("counts insertions, deletions, changes and swaps", () => {
    assert.deepEqual(
      [
        ["", "ab"],
        ["group", "grop"],
        ["abc", "acb"],
        ["kitten", "sitting"],
        ["same", "same"],
      ].map(([a = "", b = ""]) => editDistance(a, b)),
      [2, 1, 1, 3, 0],
    );
  });

  it("offers the nearest and nothing far", () => {
    const words = ["temperature", "top_p", "top_k", "group"];
    assert.equal(nearest("temprature", words), "temperature");
    assert.equal(nearest("groups", words), "group");
    assert.equal(nearest("topK", words), "top_k");
    assert.equal(nearest("temp", words), "temperature");
    assert.equal(nearest("elephant", words), undefined);
  });
});

describe("an unclosed bracket or quote", () => {
  const at = (text: string): number | undefined => unclosed(text)?.offset;
  it("is found at its opening", () => {
    assert.equal(at("a: [1, 2\nb: { c: 3 }\n"), 3);
    assert.equal(at("a: { b: [1, 2}\nc: 1\n"), 8);
    assert.equal(at("a: [1,\n  2\nb: 1"), 3);
    assert.equal(at('a: "x\nb: 1\n'), 3);
    assert.equal(at("a: 'it''s\n"), 3);
  });
  it("is not seen in whole texts, comments and strings", () => {
    for (const text of [
      'a: [1, { b: "]" }]\n',
      "a: '['\n",
      "# [ {\na: 1\n",
      'a: "\\""\n',
      "a: x[1\n",
      "a: |\n  [ {\n",
      "a: ''\n",
    ])
      assert.equal(at(text), undefined, text);
  });
});

describe("what a reward's file offers", () => {
  it("is read from TypeScript without running it", () => {
    const found = exportsOf(resolve("test/fixtures/config/rewards/brevity.ts"));
    assert.deepEqual(found, { kind: "names", names: ["score"], open: false });
    assert.equal(exportsOf(resolve("test/fixtures/config/rewards/broken.ts")).kind, "broken");
  });

  it("is read from Python's top level alone", () => {
    const source = readFileSync("test/fixtures/config/rewards/style.py", "utf8");
    assert.deepEqual(pythonNames(source), { names: ["compute_score", "regex"], open: false });
    assert.deepEqual(
      pythonNames(
        "score = lambda x: 1\nif score == 2:\n  other = 1\nasync def later(): ...\nclass Judge: ...\n",
      ).names.sort(),
      ["Judge", "later", "score"],
    );
    assert.deepEqual(pythonNames("from a import (b as c,\n  d)\nimport e.f\n").names.sort(), ["c", "d", "f"]);
    assert.equal(pythonNames("from a import *\n").open, true);
    assert.deepEqual(pythonNames("x = '''\ndef no(): ...\n'''\n").names, ["x"]);
  });
});

describe("a config of another trainer", () => {
  it("is recognised by keys that only it has", () => {
    assert.equal(configKind("actor_rollout_ref: {}\ndata: {}\n"), "verl");
    assert.equal(configKind("model_name_or_path: x\nnum_generations: 8\n"), "trl");
    assert.equal(configKind("pretrain: x\nprompt_data: y\n"), "openrlhf");
    assert.equal(configKind("tasks: []\nmodel_name_or_path: x\n"), "gradus");
    assert.equal(configKind("tasks: ["), "gradus");
  });
});

describe("the JSON Schema", () => {
  const schema = z.fromJSONSchema(JSON.parse(JSON.stringify(configSchema())));

  it("accepts the starter and its resolved tree", () => {
    const text = files("sec")["countdown.gradus.yaml"] ?? "";
    const { tree } = loadConfig(resolve("test/fixtures/config/rewards/starter.gradus.yaml"), {
      text: text.replace("./rewards/", "./"),
    });
    const result = schema.safeParse(tree);
    assert.ok(result.success, result.error?.message);
  });

  it("refuses unknown keys and wrong values", () => {
    for (const wrong of [
      { modle: "tiny" },
      { rollout: { group: 0 } },
      { curriculum: { sampler: "boltzman" } },
      { engine: { backend: "nativ" } },
      { kl: {} },
    ]) {
      assert.equal(schema.safeParse(wrong).success, false, JSON.stringify(wrong));
    }
  });

  it("has the parameters of every method, each with a description", () => {
    for (const method of methods) {
      const { properties } = JSON.parse(JSON.stringify(paramsSchema(method)));
      for (const [name, property] of Object.entries<{ description?: string }>(properties ?? {}))
        assert.ok(property.description, `${method.slot}.${method.name}.${name}`);
    }
  });
});
