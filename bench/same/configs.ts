/** What two working trees are compared on, next to the example: a short run of everything that a run remembers or draws. */
import { configs as remembering } from "../kills/configs.ts";

export interface SameConfig {
  readonly name: string;
  readonly text: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly set?: readonly string[];
  /** Stopped after this step, then resumed. */
  readonly stopAt?: number;
}

const base = `model: { base: tiny, width: 24, layers: 1, heads: 2, hidden: 32, context: 96 }
tasks: [{ env: reverse_text, lengths: [1, 2, 3] }]
rollout: { prompts: 4, group: 4, max_tokens: 8 }
reward: { terms: { right: { use: format, pattern: "[ -M].*" } } }
update: { optimizer: { use: adamw, lr: 2.0e-3 } }
evaluation: { every: 10, prompts: 8, pass_at: [1, 2] }
checkpoint: { every: 10, keep: 2 }
seed: 1
steps: 20
`;
const preset = (names: string, set: readonly string[] = []): SameConfig => ({
  name: names.replace(", ", "-"),
  text: `extends: [${names}]\n${base}`,
  set,
});

const stages = remembering.find(({ name }) => name === "stages")!;
export const configs: readonly SameConfig[] = [
  ...remembering,
  preset("ppo"),
  preset("dpo"),
  // Several updates a step: the weights are not those that wrote the rollouts.
  preset("gspo, sec", ["update.epochs=2", "update.mini_batch=8"]),
  preset("multi-attempt", ["rollout.shape.high=2"]),
  // Slow enough for a command to reach it in its midst.
  {
    ...stages,
    name: "stopped",
    stopAt: 15,
    set: ["reward.terms.slow={ use: ./slow.ts, weight: 0 }"],
    files: {
      "slow.ts": "export const score = () => new Promise((done) => setTimeout(() => done(0), 5));\n",
    },
  },
];
