/** Advantages, loss and derivatives of a step of 4,096 rollouts of 512 tokens, on one core. `[--rollouts=4096] [--tokens=512] [--rounds=7]` */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../server/rules/load.ts";
import type { StageBody } from "../server/core/config/resolved.ts";
import { computeStep, mathStep } from "./mathBatch.ts";
import { measured, median, option } from "./report.ts";

const [rollouts, tokens, rounds] = [option("rollouts", 4096), option("tokens", 512), option("rounds", 7)];

/** The first three have a goal; the others represent the families of losses and for advantages below a response. */
const configs = {
  "GRPO, clipped, token mean": "objective: { use: clipped, aggregate: token_mean }",
  "GRPO with k3 in the loss":
    "objective: { use: clipped, aggregate: token_mean }\nkl: [{ model: reference, estimator: k3, coefficient: 0.04 }]",
  "RLOO with k1 in the reward":
    "advantage: { baseline: leave_one_out, scale: none }\nobjective: { use: reinforce, aggregate: sequence_mean }\nkl: [{ model: reference, estimator: k1, place: reward, coefficient: 0.05 }]",
  "GSPO, a ratio of the response":
    "objective: { use: clipped, ratio: sequence, low: 0.0003, high: 0.0004, aggregate: sequence_mean }",
  "PPO, a critic's advantage at every token":
    "model: { value_heads: [value] }\nadvantage: { baseline: { use: critic, lambda: 0.95 }, scale: none, whiten: tokens }\nobjective: { use: clipped, aggregate: token_mean, value: { use: value_clipped, coefficient: 0.1 } }",
  "DPO, the best and the worst of a group": "objective: { use: dpo }",
  "NFT, right and wrong answers": "objective: { use: nft, aggregate: token_mean }",
  "OREO, a value at every token":
    "model: { value_heads: [value] }\nobjective: { use: oreo, aggregate: token_mean }",
};
const aimed = 3;

function bodyOf(text: string): StageBody {
  const folder = mkdtempSync(join(tmpdir(), "gradus-bench-math-"));
  try {
    const file = join(folder, "math.gradus.yaml");
    writeFileSync(
      file,
      `tasks: [{ env: countdown }]\nreward: { terms: { right: { use: equation } } }\n${text}\n`,
    );
    const { config, diagnostics } = loadConfig(file);
    if (config === undefined) throw new Error(diagnostics.map(({ message }) => message).join("\n"));
    return config.top;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

for (const [place, [name, text]] of Object.entries(configs).entries()) {
  const step = mathStep(bodyOf(text), rollouts, tokens);
  computeStep(step);
  const times = Array.from({ length: rounds }, () => {
    const start = performance.now();
    computeStep(step);
    return performance.now() - start;
  });
  measured({
    what: `Rewards to derivatives, ${name}`,
    value: median(times),
    unit: "ms",
    ...(place < aimed && { goal: 50 }),
    setting: `${rollouts.toLocaleString("en-US")} rollouts × ${tokens} tokens, one core`,
  });
}
