/** The files that `gradus init` writes. */
import { stringify } from "yaml";

export const configName = "countdown.gradus.yaml";

export const files = (preset: string): Readonly<Record<string, string>> => ({
  [configName]: config(preset),
  "rewards/brevity.ts": reward,
  "rewards/brevity.test.ts": test,
});

const config = (
  preset: string,
): string => `# A curriculum, a reward and the training of a small language model.
#   gradus validate ${configName}    checks it, before anything runs
#   gradus resolve ${configName}     shows every value and where it comes from
#   gradus run ${configName}         trains it here and follows it

# A published method to start from: \`gradus presets\` lists them. Everything below changes it.
extends: ${stringify(preset).trim()}
name: countdown
seed: 1

# The policy: \`tiny\` is a transformer of 0.86 million parameters, trained from scratch.
model: { base: tiny, context: 128 }

# What is asked: reach a number from 3 or 4 others with + − ×. Each count of numbers is one arm of the curriculum.
tasks:
  - { env: countdown, numbers: [3, 4] }

# Which task comes next: the arms on which the model learns most.
curriculum:
  arms: difficulty
  signal: mean_abs_advantage
  estimator: { use: ema, alpha: 0.5 }
  sampler: { use: boltzmann, temperature: 0.4 }

rollout: { prompts: 16, group: 8, max_tokens: 48, temperature: 1 }

reward:
  terms:
    # Exact: the equation is right, or it is not.
    correct: { use: equation, weight: 1 }
    # A function of your own, which fades in over the first 100 steps.
    brevity: { use: ./rewards/brevity.ts, weight: { schedule: linear, from: 0, to: 0.1, over: 100 } }
  # What counts as solved in pass@k.
  success: { terms: [correct], at_least: 1 }

update:
  optimizer: { use: adamw, lr: 1.0e-4, warmup: 10, clip_norm: 1 }

# Supervised on written solutions first: from nothing, no answer would ever be right and nothing would be reinforced.
stages:
  - { name: warm-up, kind: sft, steps: 300, update: { optimizer: { lr: 1.0e-3 } } }
  - { name: reinforce, steps: 120 }

# Measured on tasks that training never draws.
evaluation: { every: 40, prompts: 128, pass_at: [1, 8] }
checkpoint: { every: 50, keep: 3 }
`;

const reward = `/** What a reward function is given for each response. */
export interface Rollout {
  readonly prompt: string;
  readonly response: string;
  readonly task: { readonly answer?: string; readonly data: Readonly<Record<string, unknown>> };
}

/** Longest response, in characters, that is still worth something. */
const longest = 48;

/**
 * Pays for short answers: 1 for none at all, falling to 0 at 48 characters.
 * Return null where the term does not apply. An exception is recorded as an error, never as a reward of 0.
 */
export function score({ response }: Rollout): number | null {
  return 1 - Math.min(response.trim().length, longest) / longest;
}
`;

const test = `// Node 22.18 or newer: node --test rewards/    (older: npx tsx --test rewards/brevity.test.ts)
import assert from "node:assert/strict";
import { test } from "node:test";
import { score, type Rollout } from "./brevity.ts";

const rollout = (response: string): Rollout => ({ prompt: "", response, task: { data: {} } });

test("shorter answers are worth more", () => {
  assert.ok((score(rollout("1+2")) ?? 0) > (score(rollout("1 + 2 + 0")) ?? 0));
});

test("a reward is never below 0", () => {
  assert.equal(score(rollout("1".repeat(500))), 0);
});
`;
