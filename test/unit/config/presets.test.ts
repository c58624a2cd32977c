import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { createMethod, listPresets, loadConfig } from "../../../server/config/index.ts";
import { keyedRandom } from "../../../server/config/keyedRandom.ts";
import { knownOf } from "../curriculum/support.ts";

const rest = "tasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\n";

const pilots = "curriculum: { estimator: { pilots: test/fixtures/config/few.jsonl } }\n";

/** What only a person can say: the file that is learned from. */
const own: Readonly<Record<string, string>> = {
  "a-lol": "replay: { use: file, path: test/fixtures/config/few.jsonl }\n",
  modomodo: pilots,
  "bayesian-mixture": pilots,
};

describe("presets", () => {
  for (const { id } of listPresets()) {
    it(`${id} resolves without a finding`, () => {
      const { diagnostics, config } = loadConfig(resolve("any.gradus.yaml"), {
        text: `extends: ${id}\n${rest}${own[id] ?? ""}`,
      });
      assert.deepEqual(diagnostics, []);
      assert.ok(config);
    });
  }

  it("creates every method a resolved config has chosen", () => {
    const { config } = loadConfig(resolve("any.gradus.yaml"), { text: `extends: [sec, dapo]\n${rest}` });
    assert.ok(config);
    const context = { random: keyedRandom("test"), max_tokens: 8, group: 4 };
    const { curriculum, tasks } = config.top;
    const sampler = createMethod(curriculum.sampler, context);
    const [first] = sampler.probabilities(knownOf([1, 0.6]), { step: 0, stageStep: 0 });
    assert.ok(Math.abs((first ?? 0) - 1 / (1 + Math.exp(-1))) < 1e-12, "softmax at temperature 0.4");
    const [task] = tasks;
    assert.ok(task);
    assert.ok(
      createMethod(task.source, { ...context, name: task.name }).draw("train", undefined, context.random),
    );
  });

  it("are found from wherever the code lies", () => {
    assert.deepEqual(
      listPresets().map(({ id }) => `${id}.yaml`),
      readdirSync("presets")
        .filter((name) => name.endsWith(".yaml"))
        .sort(),
    );
  });
});

describe("examples", () => {
  const files = existsSync("examples")
    ? readdirSync("examples", { recursive: true })
        .map(String)
        .filter((name) => name.endsWith(".gradus.yaml"))
    : [];
  /** Its model is fetched by a script. */
  const instead = new Map([[join("smollm2", "smollm2.gradus.yaml"), ["model.base=tiny"]]]);
  for (const name of files) {
    it(`${name} has no finding`, () =>
      assert.deepEqual(
        loadConfig(resolve("examples", name), { set: instead.get(name) ?? [] }).diagnostics,
        [],
      ));
  }
});
