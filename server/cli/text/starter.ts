/**
 * The files that `gradus init` writes. What they make must learn within about a minute on two cores: tests run it as
 * it is written.
 */
import { stringify } from "yaml";

export const configName = "countdown.gradus.yaml";

const rewardName = "rewards/brevity.ts";
export const testName = "rewards/brevity.test.ts";

export const files = (preset: string): Readonly<Record<string, string>> => ({
  [configName]: config(preset),
  [rewardName]: reward,
  [testName]: test,
});

const config = (
  preset: string,
): string => `# A curriculum, a reward and the training of a small language model: about a minute on two cores.
#   gradus validate ${configName}          checks it before anything runs
#   gradus resolve ${configName}           shows every value and where it comes from
#   gradus run ${configName} --dry-run     one step: values of each term, time, memory
#   gradus run ${configName}               trains it here and follows it

# A published method to start from: \`gradus presets\` lists them. Everything below changes it.
extends: ${stringify(preset).trim()}
name: countdown
seed: 1

# The policy: a transformer of 0.36 million parameters, from random weights.
model: { base: tiny, width: 96, layers: 3, heads: 4, hidden: 256, context: 48 }

# The tasks: reach a number from 2 or 3 others with + - *. "3 5 7=22:" is answered by "3*5+7".
# Each count of numbers is one arm of the curriculum.
tasks:
  - { env: countdown, numbers: [2, 3] }

# Which task comes next: the arms on which the model learns most.
curriculum:
  arms: difficulty
  signal: mean_abs_advantage
  estimator: { use: ema, alpha: 0.5 }
  sampler: { use: boltzmann, temperature: 0.4 }

rollout: { prompts: 32, group: 8, max_tokens: 16, temperature: 1 }

reward:
  terms:
    # Exact: 1 where the equation is right, else 0.
    correct: { use: equation }
    # A function of your own: a factor, 1 for an answer without a superfluous character, else less.
    brevity: { use: ./${rewardName} }
  # The terms are multiplied, so brevity is rewarded only where the answer is right. A sum would
  # reward brief wrong answers too. In a group of wrong answers nothing else would differ, and
  # dividing by the group's spread would make even a small weight large: the policy would learn to
  # say nothing. With a sum, let the function return null for wrong answers.
  combine: product
  # What counts as solved in pass@k.
  success: { terms: [correct], at_least: 1 }

update:
  optimizer: { use: adamw, lr: 3.0e-4, warmup: 10, clip_norm: 1 }

# Supervised learning on written solutions comes first: from random weights no answer would ever
# be right, and there would be nothing to reinforce.
stages:
  - name: warm-up
    kind: sft
    steps: 300
    batch: 64
    update: { optimizer: { lr: 2.0e-3, warmup: 20 } }
  - { name: reinforce, steps: 80 }

# Measured on tasks that training never draws, before the first rollout and after the last.
evaluation: { every: 40, prompts: 128, pass_at: [1, 8] }
checkpoint: { every: 100, keep: 3 }
`;

const reward = `/** What a reward function receives for each response. */
export interface Rollout {
  readonly prompt: string;
  readonly response: string;
  readonly task: {
    readonly answer?: string;
    /** The environment's own fields; for countdown the numbers and the target. */
    readonly data: { readonly numbers?: readonly number[]; readonly target?: number };
  };
}

/**
 * Worth more without superfluous characters: 1 for an answer as short as one that uses each number
 * once can be, a half for one twice as long. The empty answer is worth 0: the easiest
 * answer must never earn anything by itself.
 *
 * Return null where the term does not apply. An exception is an error, never a reward of 0.
 */
export function score({ response, task }: Rollout): number | null {
  const written = response.trim().length;
  if (written === 0) return 0;
  // Each number's digits, and an operator between each two.
  const needed = (task.data.numbers ?? []).join("+").length;
  return Math.min(1, needed / written);
}
`;

const test = `// Node 22.18 or newer: node --test ${testName}
// An older one:        npx tsx --test ${testName}
import assert from "node:assert/strict";
import { test } from "node:test";
import { score } from "./brevity.ts";

const scoreOf = (response: string): number | null =>
  score({ prompt: "3 5 7=22:", response, task: { data: { numbers: [3, 5, 7], target: 22 } } });

test("an answer without a superfluous character is worth 1", () => {
  assert.equal(scoreOf("3*5+7"), 1);
});

test("longer answers are worth less, and never less than 0", () => {
  assert.equal(scoreOf("3*5 + 7 = 2"), 5 / 11);
  assert.ok((scoreOf("1".repeat(500)) ?? -1) >= 0);
});

test("the empty answer is worth nothing", () => {
  assert.equal(scoreOf(""), 0);
  assert.equal(scoreOf(" "), 0);
});
`;
