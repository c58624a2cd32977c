import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { create } from "../../../server/core/create.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { listPresets } from "../../../server/config/presets.ts";
import { keyedRandom } from "../../../server/core/config/keyedRandom.ts";
import { lifted } from "../../../server/methods/curriculum/fast/lifted.ts";
import { poolOf } from "../methods/curriculum/support.ts";

const rest = "tasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\n";

const pilots = "curriculum: { estimator: { pilots: test/fixtures/config/few.jsonl } }\n";

/** A list would replace the tasks that these make of others. */
const making = (id: string): boolean =>
  /^ {4}generate:/m.test(readFileSync(join("presets", `${id}.yaml`), "utf8"));
const mapped = rest.replace("[{ env: countdown }]", "{ countdown: { env: countdown } }");

/** These are about their own tasks, which are long. */
const worlds = /^ {2}- (?:\{ )?name: \w+,?\s+env: (?!countdown|arithmetic|reverse_text)/m;
const brings = (id: string): boolean => {
  const base = listPresets().find((one) => one.id === id)?.extends;
  return (
    worlds.test(readFileSync(join("presets", `${id}.yaml`), "utf8")) ||
    (typeof base === "string" && brings(base))
  );
};
const room = "model: { context: 32768 }\nrollout: { max_tokens: 200 }\n";
const needsOf = (id: string): string => (brings(id) ? room : making(id) ? mapped : rest);

const log = "replay: { use: file, path: test/fixtures/config/few.jsonl }\n";
const filter = "rollout: { top_p: 0.9 }\n";
const branch = "rollout: { branch: { use: top_entropy, k: 4, children: 3 } }\n";

/** What makes these pieces act, and what is said where it is missing. */
const pieces: Readonly<Record<string, { readonly add: string; readonly without: readonly string[] }>> = {
  pear: { add: log, without: ["warning idle-choice"] },
  ric: { add: log, without: ["warning idle-choice"] },
  oreo: { add: log, without: ["warning idle-choice"] },
  dro: { add: log, without: ["warning idle-choice"] },
  ilql: { add: log, without: ["warning idle-choice"] },
  dqo: { add: log, without: ["warning idle-choice"] },
  "human-in-the-loop": { add: log, without: ["warning idle-choice"] },
  rlprompt: { add: "rollout: { max_tokens: 40 }\n", without: ["warning short-limit"] },
  "arpo-prefix": { add: branch, without: ["info idle-choice"] },
  "deepsearch-advantage": { add: branch, without: ["info idle-choice"] },
  tis: { add: filter, without: ["info idle-choice"] },
  icepop: { add: filter, without: ["info idle-choice"] },
  "seq-mask-tis": { add: filter, without: ["info idle-choice"] },
  "areal-decoupled": { add: "replay: { use: window, share: 0.5 }\n", without: ["info idle-choice"] },
  "areal-interpolated": { add: "replay: { use: window, share: 0.5 }\n", without: ["info idle-choice"] },
  "rl-plus-advantage": {
    add: "guidance: { trigger: always, source: solution, trains: all }\n",
    without: ["info idle-choice"],
  },
};

/** By their own formulas they draw what always fails most. */
const seeking = ["drive", "gain-rl", "kimi-k1.5-sampling", "self", "verified-prerequisites", "vla-rl"];

/** What only a person can say: the file that is learned from. */
const own: Readonly<Record<string, string>> = {
  "a-lol": "replay: { use: file, path: test/fixtures/config/few.jsonl }\n",
  modomodo: pilots,
  "bayesian-mixture": pilots,
};

describe("presets", () => {
  for (const { id } of listPresets()) {
    it(`${id} resolves without a diagnostic, or with that of a piece`, () => {
      const { diagnostics: found, config } = loadConfig(resolve("any.gradus.yaml"), {
        text: `extends: ${id}\n${needsOf(id)}${own[id] ?? ""}`,
      });
      // Random weights are this test's choice: what is written of a preset for a person begins with a stage that teaches.
      const diagnostics = found.filter(({ rule }) => rule !== "untrained-policy");
      const expected = seeking.includes(id) ? ["info failing-tasks"] : (pieces[id]?.without ?? []);
      assert.deepEqual(
        diagnostics.map(({ severity, rule }) => `${severity} ${rule}`),
        expected,
      );
      for (const { rule, message } of diagnostics)
        if (rule === "idle-choice") assert.match(message, /Add `(replay|rollout\.(branch|top_p)|guidance)/);
      assert.ok(config);
    });
  }

  for (const [id, { add }] of Object.entries(pieces))
    it(`${id} with what it acts on has no such diagnostic`, () => {
      const { diagnostics } = loadConfig(resolve("any.gradus.yaml"), {
        text: `extends: ${id}\n${rest}${add}`,
      });
      assert.deepEqual(
        diagnostics.filter(({ rule }) => rule === "idle-choice").map(({ message }) => message),
        [],
      );
    });

  it("creates every method a resolved config has chosen", () => {
    const { config } = loadConfig(resolve("any.gradus.yaml"), { text: `extends: [sec, dapo]\n${rest}` });
    assert.ok(config);
    const context = { random: keyedRandom("test"), max_tokens: 8, group: 4 };
    const { curriculum, tasks } = config.top;
    const sampler = lifted(create(curriculum.sampler, context));
    const [first] = sampler.probabilities(poolOf([1, 0.6]), { step: 0, stageStep: 0 });
    assert.ok(Math.abs((first ?? 0) - 1 / (1 + Math.exp(-1))) < 1e-12, "softmax at temperature 0.4");
    const [task] = tasks;
    assert.ok(task);
    assert.ok(create(task.source, { ...context, name: task.name }).draw("train", undefined, context.random));
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
    it(`${name} has no diagnostic`, () =>
      assert.deepEqual(
        loadConfig(resolve("examples", name), { set: instead.get(name) ?? [] }).diagnostics,
        [],
      ));
  }
});
