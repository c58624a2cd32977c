/** Small runs whose checkpoints hold something of everything that a run remembers. */
const base = `model: { base: tiny, width: 24, layers: 1, heads: 2, hidden: 32, context: 48 }
tasks:
  - { name: easy, env: reverse_text, lengths: [1, 2, 3] }
rollout: { prompts: 4, group: 4, max_tokens: 8 }
curriculum: { arms: difficulty, sampler: boltzmann }
update: { optimizer: { use: adamw, lr: 2.0e-3 } }
evaluation: { every: 10, prompts: 8, pass_at: [1, 2] }
checkpoint: { every: 3, keep: 3 }
seed: 1
`;
const brief = "reward: { terms: { brief: { use: length, shape: linear } } }\n";
const steps = `stages:
  - { name: warm-up, kind: sft, steps: 10, batch: 8 }
  - { name: practice, steps: 50 }
`;
const small = "base: tiny, width: 24, layers: 1, heads: 2, hidden: 32, context: 48";

export interface KillConfig {
  readonly name: string;
  readonly text: string;
  readonly files?: Readonly<Record<string, string>>;
}

export const configs: readonly KillConfig[] = [
  {
    name: "bandit",
    text: `${base}reward: { terms: { mine: { use: ./mine.ts } } }\nadvantage: { baseline: moving_average, scale: none }\n${steps}`,
    files: {
      "mine.ts": "export const score = ({ response }: { response: string }) => 1 / (1 + response.length);\n",
    },
  },
  {
    name: "replay",
    text: `${base}${brief}advantage: { baseline: leave_one_out, scale: none }
replay: { use: window, capacity: 40, max_age: 6, share: 0.5, draw: { use: priority, beta: 1 }, updates: 2 }
kl: [{ model: reference, coefficient: 0.001 }]
${steps}`,
  },
  {
    name: "generated",
    text: `${base.replace(
      "rollout:",
      "  - { name: new, generate: { every: 2, parents: 4, tries: 2, gates: [builds] } }\nrollout:",
    )}${brief}advantage: { baseline: leave_one_out, scale: none }
${steps}`,
  },
  {
    name: "critic",
    text: `${base}${brief}models:
  critic: { ${small}, value_heads: [q1, q2, v1, v2], trains: true, optimizer: { use: adamw, lr: 0.01 } }
  slow: { polyak: { of: critic, tau: 0.1 } }
advantage: { baseline: { use: turn_critic, model: critic }, scale: none }
objective: { use: reinforce, aggregate: sequence_sum }
auxiliary: [{ use: learner, model: critic, objective: { use: turn_critic, target: slow, actions: drawn }, each: turn, capacity: 40, rows: 16, updates: 2 }]
${steps}`,
  },
  {
    name: "reward-model",
    text: `${base}models: { prm: { ${small}, trains: true, optimizer: { use: adamw, lr: 0.01 } } }
reward:
  terms:
    brief: { use: length, shape: linear }
    process: { use: implicit_prm, model: prm, beta: 2, level: response }
  success: { terms: [brief], at_least: 0.3 }
advantage: { baseline: leave_one_out, scale: none }
${steps}`,
  },
  {
    name: "lora",
    text: `${base.replace("context: 48 }", "context: 48, adapter: { use: lora, rank: 4, alpha: 8 } }")}${brief}advantage: { baseline: leave_one_out, scale: none }
${steps}`,
  },
  {
    name: "stages",
    text: `${base}${brief}advantage: { baseline: moving_average, scale: none }
stages:
  - { name: warm-up, kind: sft, steps: 9, batch: 8 }
  - { name: first, steps: 12, on_enter: { snapshot: taught } }
  - { name: second, steps: 12, curriculum: { sampler: uniform }, on_enter: { reference: refresh, optimizer: reset } }
  - { name: short, rollout: { max_tokens: 5 } }
  - { name: long, rollout: { max_tokens: 9 } }
  - { name: turns, steps: 20, alternate: [{ stage: short, steps: 3 }, { stage: long, steps: 2 }] }
`,
  },
];
