import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { methods } from "../../../server/methods/index.ts";
import { namedBy } from "../../../server/language/names/naming.ts";
import { namesIn } from "../../../server/language/names/occurrences.ts";
import { readMetric } from "../../../server/language/names/metricParts.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { placeIn } from "../../../server/language/navigation/exportPlace.ts";
import { isSchema, wordsOf } from "../../../server/config/check/values.ts";

describe("names in a config", () => {
  it("are known for every parameter that says it takes one", () => {
    const says: readonly (readonly [RegExp, string])[] = [
      [/`models`|^The model that has/, "model"],
      [/^The term (that|whose)/, "term"],
      [/[Hh]eads? of |[Nn]ame of the (value )?head/, "head"],
    ];
    let seen = 0;
    for (const { slot, name, params } of methods)
      for (const [key, schema] of Object.entries(params.shape)) {
        const description = isSchema(schema) ? (schema.description ?? "") : "";
        const kind = says.find(([pattern]) => pattern.test(description))?.[1];
        if (kind === undefined || (isSchema(schema) && wordsOf(schema).length > 0)) continue;
        seen += 1;
        assert.equal(
          isSchema(schema) ? namedBy(schema) : undefined,
          kind,
          `${slot} ${name}: ${key}: ${description}`,
        );
      }
    assert.ok(seen > 30, `only ${seen} parameters take names`);
  });

  it("are found in a metric, with their places", () => {
    const parts = (name: string, tasks?: string[]): unknown =>
      readMetric(name, tasks)?.parts.map(({ kind, name: part, start }) => `${kind} ${part} ${start}`);
    assert.deepEqual(parts("reward/correct"), ["term correct 7"]);
    assert.deepEqual(parts("reward/correct/errors"), ["term correct 7"]);
    assert.deepEqual(parts("eval/reward/correct"), ["term correct 12"]);
    assert.deepEqual(parts("reward/total"), []);
    assert.deepEqual(parts("eval/reward/total"), []);
    assert.deepEqual(parts("curriculum/a/3/share"), ["arm a/3 11", "task a 11"]);
    assert.deepEqual(parts("curriculum/a/b/3/share", ["a", "a/b"]), ["arm a/b/3 11", "task a/b 11"]);
    assert.deepEqual(parts("eval/a/3/pass@8"), ["arm a/3 5", "task a 5"]);
    assert.deepEqual(parts("policy/kl/teacher"), ["model teacher 10"]);
    assert.deepEqual(parts("policy/kl/teacher/coefficient"), ["model teacher 10"]);
    assert.equal(readMetric("no/such/metric"), undefined);
  });

  it("are found wherever the grammar says that there is one, in keys and addresses too", () => {
    const text = `models: { critic: { base: tiny }, trained: { base: tiny } }
rollout: { delta_logits: { model: trained, base: reference } }
stages: [{ name: first, steps: 1, on_enter: { init: { critic: trained } } }]
sweep: { parameters: { reward.terms.brevity.weight: { values: [1] }, 'stages."first".steps': { values: [2] } } }
`;
    const found = namesIn(loadConfig("/names.gradus.yaml", { text }).source, text).occurrences;
    const places = found
      .filter(({ role }) => role === "reference")
      .map(({ kind, name, range: { start } }) => `${kind} ${name} ${start.line}:${start.character}`);
    assert.deepEqual(places, [
      "model trained 1:34",
      "model reference 1:49",
      "model critic 2:54",
      "model trained 2:62",
      "term brevity 3:36",
      "stage first 3:78",
    ]);
  });
});

describe("the place of an export", () => {
  const place = (text: string, name: string, language: "python" | "script"): string | undefined => {
    const range = placeIn(text, name, language);
    return range && `${range.start.line}:${range.start.character}-${range.end.character}`;
  };

  it("is found in a script, in each of its forms", () => {
    assert.equal(place("// score\nexport async function score() {}", "score", "script"), "1:22-27");
    assert.equal(
      place("export const scores = 1;\nexport const score = () => 1;", "score", "script"),
      "1:13-18",
    );
    assert.equal(place("const inner = 1;\nexport { inner as score };", "score", "script"), "1:18-23");
    assert.equal(place("function score() {}\nexport { score };", "score", "script"), "0:9-14");
    assert.equal(place("exports.score = () => 1;", "score", "script"), "0:8-13");
    assert.equal(place("export default function named() {}", "default", "script"), "0:24-29");
    assert.equal(place("export default () => 1;", "default", "script"), "0:7-14");
    assert.equal(place('const x = "export function score";', "score", "script"), undefined);
  });

  it("is found in Python, at the top level only", () => {
    assert.equal(
      place('"""def f"""\nclass A:\n    def f(self): pass\n\ndef f(x):\n', "f", "python"),
      "4:4-5",
    );
    assert.equal(place("f = lambda x: 1\n", "f", "python"), "0:0-1");
    assert.equal(place("from m import (g, f)\n", "f", "python"), "0:18-19");
    assert.equal(place("# def f\n", "f", "python"), undefined);
  });
});
