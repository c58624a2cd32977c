/** `--steps` leaves a config that runs: what needs a dropped stage is dropped with it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { loadConfig, type LoadedConfig } from "../../../server/rules/load.ts";
import { listPresets } from "../../../server/config/presets.ts";
import { rlSteps } from "../../../server/config/build/stagePlan.ts";
import { some } from "../../support/thorough.ts";

const file = resolve("any.gradus.yaml");
const load = (text: string, steps: number): LoadedConfig => loadConfig(file, { text, steps });
const errors = ({ diagnostics }: LoadedConfig): string[] =>
  diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
const names = ({ config }: LoadedConfig): string[] | undefined => config?.stages.map(({ name }) => name);
const trained = ({ config }: LoadedConfig): number =>
  (config?.stages ?? [])
    .filter(({ part }) => !part)
    .reduce((sum, stage) => sum + rlSteps(stage, stage.steps, config!.stages), 0);

const log = "replay: { use: file, path: test/fixtures/config/few.jsonl }\n";
const pilots = "curriculum: { estimator: { pilots: test/fixtures/config/few.jsonl } }\n";
const own: Readonly<Record<string, string>> = { "a-lol": log, modomodo: pilots, "bayesian-mixture": pilots };
const textOf = (id: string): string =>
  `extends: ${id}\n${/^tasks:/m.test(readFileSync(join("presets", `${id}.yaml`), "utf8")) ? "" : "tasks: [{ env: countdown }]\n"}reward: { terms: { correct: equation } }\n${own[id] ?? ""}`;

describe("--steps", () => {
  for (const { id } of some(listPresets(), 70))
    it(`${id} is as valid with few steps as with all`, () => {
      const whole = loadConfig(file, { text: textOf(id) });
      const all = errors(whole);
      const staged = (whole.config?.stages.length ?? 2) > 1;
      for (const steps of staged ? [1, 3, 60] : [3]) {
        const loaded = load(textOf(id), steps);
        assert.deepEqual(errors(loaded), all, `--steps ${steps}`);
        assert.ok(trained(loaded) <= steps, `--steps ${steps}: ${trained(loaded)}`);
      }
    });

  const rest = "tasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\n";
  it("drops a merge with the stage that it merges, and what merges that", () => {
    const text = `${rest}stages:
  - { name: a, steps: 3, on_enter: { snapshot: first } }
  - { name: b, steps: 3, on_enter: { snapshot: second } }
  - { name: both, kind: merge, merge: [{ stage: b }, { snapshot: first }], on_enter: { snapshot: third } }
  - { name: last, kind: merge, merge: [{ snapshot: third }, { snapshot: first }] }
  - { name: mean, kind: merge, merge: [{ stage: a }, { snapshot: first }] }
`;
    assert.deepEqual(names(load(text, 6)), ["a", "b", "both", "last", "mean"]);
    const cut = load(text, 3);
    assert.deepEqual(errors(cut), []);
    assert.deepEqual(names(cut), ["a", "mean"]);
  });

  it("drops the parts of an alternation that is dropped", () => {
    const text = `${rest}stages:
  - { name: a, steps: 3 }
  - { name: one }
  - { name: two }
  - { name: turns, steps: 4, alternate: [{ stage: one, steps: 1 }, { stage: two, steps: 1 }] }
`;
    const cut = load(text, 3);
    assert.deepEqual(errors(cut), []);
    assert.deepEqual(names(cut), ["a"]);
    assert.equal(trained(load(text, 5)), 5);
  });

  it("a name that no stage ever had stays an error", () => {
    const text = `${rest}stages: [{ name: a, steps: 3 }, { name: m, kind: merge, merge: [{ stage: b }, { stage: a }] }]\n`;
    assert.match(errors(load(text, 1))[0] ?? "", /No earlier stage is called `b`/);
  });
});
