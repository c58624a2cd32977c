/** Stage lists of published recipes: their clocks, caps and weights at the steps where the papers say something. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { valueAt } from "../../../server/core/schedule.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import type { RunConfig } from "../../../server/core/config/runConfig.ts";
import type { StageConfig } from "../../../server/core/config/stageConfig.ts";
import { placeAt, stepsInAll } from "../../../server/config/build/stagePlan.ts";
import { longest } from "../../../server/run/step/generate/decoding.ts";

const tasks = "tasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\n";
function configOf(text: string): RunConfig {
  const { config, diagnostics } = loadConfig(resolve("test/fixtures/stages/any.gradus.yaml"), { text });
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message),
    [],
  );
  assert.ok(config);
  return config;
}
const preset = (id: string, more = tasks): RunConfig => configOf(`extends: ${id}\n${more}`);
const caps = ({ stages }: RunConfig, max_tokens: number): number[] =>
  stages
    .filter(({ kind }) => kind === "rl")
    .map(({ body }) => longest({ ...body.rollout, max_tokens }, { step: 0, stageStep: 0 }));
/** What a choice comes to, whoever wrote it. */
const plain = (body: StageConfig["body"], blocks: readonly (keyof StageConfig["body"])[]): unknown =>
  JSON.parse(
    JSON.stringify(
      blocks.map((block) => body[block]),
      (key, value: unknown) => (key === "declaration" || key === "folder" ? undefined : value),
    ),
  );

test("AceReason: caps of 8K, 16K, 24K, 32K, then code; Vision-R1: 4K for 16, 8K for 8", () => {
  assert.deepEqual(caps(preset("acereason"), 32768), [8192, 16384, 24576, 32768, 32768]);
  const vision = preset("vision-r1-ptst");
  assert.deepEqual(caps(vision, 8192), [4096, 8192]);
  const spent = vision.stages
    .slice(1)
    .map(
      ({ body }) =>
        body.rollout.group * longest({ ...body.rollout, max_tokens: 8192 }, { step: 0, stageStep: 0 }),
    );
  assert.deepEqual(spent, [65536, 65536]);
});

test("Parallel-R1: of every 10 steps 8 for accuracy and 2 with the bonus", () => {
  const { stages } = preset("parallel-r1");
  const names = Array.from({ length: 20 }, (_, step) => placeAt(stages, 50 + step)!.stage.name);
  assert.deepEqual(names.slice(0, 10), [...Array.from({ length: 8 }, () => "accuracy"), "bonus", "bonus"]);
  assert.deepEqual(names.slice(10), names.slice(0, 10));
  assert.equal(stepsInAll(stages), 150);
  // The clocks of both stages go on from window to window, that of the rl stages over both.
  assert.deepEqual(placeAt(stages, 50 + 10)!.clock, { step: 10, stageStep: 8 });
  assert.deepEqual(placeAt(stages, 50 + 18)!.clock, { step: 18, stageStep: 2 });
});

test("DRIVE: 32 steps with 8 rollouts, then phases of 64, 32 and 32 steps with 64 on the 72, 50 and 25 hardest", () => {
  const { stages } = preset("drive");
  assert.deepEqual(
    stages.map(({ steps, body }) => [steps, body.rollout.group]),
    [
      [32, 8],
      [152, 64],
    ],
  );
  const { params } = stages[1]!.body.curriculum.admission;
  assert.deepEqual(params, { keep: [72, 50, 25], every: [24, 64, 32] });
});

test("Datarus: w = (1 + cos πt)/2 for the form and 1 − w for quality", () => {
  const { top } = preset("datarus-cosine");
  for (const step of [0, 25, 50, 100]) {
    const w = 0.5 * (1 + Math.cos((Math.PI * step) / 100));
    const [structure, quality] = ["structure", "quality"].map((name) =>
      valueAt(top.reward.terms.find((term) => term.name === name)!.weight, { step, stageStep: step }),
    );
    assert.ok(Math.abs(structure! - w) < 1e-12 && Math.abs(quality! - (1 - w)) < 1e-12);
  }
});

test("RLP: the preset and the kind of stage are one", () => {
  const text = "tasks: [{ corpus: corpus.txt, predict: next_token, max_prompt: 40 }]\n";
  const whole = preset("rlp", text);
  const stage = configOf(`${text}stages: [{ name: think, kind: rlp, steps: 100 }]\n`);
  const blocks = ["rollout", "reward", "advantage", "objective", "kl"] as const;
  const [a, b] = [whole.stages[0]!, stage.stages[0]!];
  // The preset names the deciding term, where the stage has no other.
  const success = { ...b.body.reward, success: a.body.reward.success };
  assert.deepEqual(plain({ ...b.body, reward: success }, blocks), plain(a.body, blocks));
  assert.deepEqual(stage.models, whole.models);
  assert.deepEqual(stage.models, [{ name: "no_think", kind: "copy", of: "policy", decay: 0.999, every: 1 }]);
  assert.deepEqual(b.on_enter.models, ["no_think"]);
  assert.equal(a.body.objective.aggregate.declaration.name, "sequence_mean");
});

test("RMT: thoughts get shorter, the text itself is learned as well", () => {
  const text = "tasks: [{ corpus: corpus.txt, predict: next_token, max_prompt: 40 }]\n";
  const { top } = preset("rmt", text);
  const at = (step: number): number =>
    longest({ ...top.rollout, max_tokens: 100 }, { step, stageStep: step });
  assert.deepEqual([at(0), at(25), at(50), at(90)], [100, 67, 33, 33]);
  const { stages } = configOf(`${text}stages: [{ name: middle, kind: rmt, steps: 10 }]\n`);
  const [loss] = stages[0]!.body.auxiliary;
  assert.equal(loss?.loss.declaration.name, "next_token");
  assert.equal(loss.loss.params["path"], "corpus.txt");
  assert.equal(loss.weight, 0.1);
});

test("QwenLong-L1, Light-R1, policy refresh: what happens as a stage begins", () => {
  assert.deepEqual(preset("qwenlong-l1").stages.at(-1)!.on_enter.carryOver, {
    from: "all",
    share: 0.25,
    weight: "inverse_reward",
    below: 1,
    floor: 0.0625,
    unsolved: "keep",
    capacity: 4096,
  });
  const light = preset("light-r1").stages;
  assert.deepEqual(
    light.map(({ kind }) => kind),
    ["sft", "sft", "preference", "merge", "rl"],
  );
  assert.deepEqual(
    light[3]!.merge.map(({ weight }) => weight),
    [1, 1],
  );
  const { refreshReference, resetOptimizer } = preset("policy-refresh").stages[1]!.on_enter;
  assert.deepEqual({ refreshReference, resetOptimizer }, { refreshReference: true, resetOptimizer: true });
});

test("released scripts: one example, QwenLong-L1 and Critique-Coder sample and clip as theirs do", () => {
  const said = (id: string): unknown[] => {
    const { rollout, objective, kl } = preset(id, "reward: { terms: { correct: equation } }\n" + own(id)).top;
    const { low, high } = objective.loss.params;
    return [
      rollout.group,
      rollout.temperature,
      rollout.top_p,
      low,
      high,
      objective.aggregate.declaration.name,
      objective.entropy,
      kl.map(({ coefficient }) => coefficient),
    ];
  };
  const own = (id: string): string => (id === "critique-coder" ? "" : "tasks: [{ env: countdown }]\n");
  assert.deepEqual(said("one-example"), [8, 0.6, 1, 0.2, 0.2, "token_mean", 0.001, [0.001]]);
  assert.deepEqual(said("qwenlong-l1"), [8, 0.7, 0.95, 0.2, 0.2, "token_mean", 0.001, []]);
  assert.deepEqual(said("critique-coder"), [8, 0.6, 0.95, 0.2, 0.3, "token_mean", 0, []]);
});
