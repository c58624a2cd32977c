/** Presets that choose what comes next, each as a run of a few seconds. */
import { tinyRun, twoLengths } from "./replayedRun.ts";

interface Short {
  readonly tasks?: string;
  /** The rest of the config, where it is not two lengths of reversed texts. */
  readonly text?: string;
  readonly set?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
}

const prompts = "curriculum: { arms: { use: prompt, pool: 12 } }\n";
const pilots = ["a", "b", "c"]
  .map((_, i) => JSON.stringify({ weights: { two: i + 1, three: 3 - i }, score: 0.2 + 0.1 * i }))
  .join("\n");
const pilot = {
  tasks:
    "tasks: [{ name: two, env: reverse_text, lengths: [2] }, { name: three, env: reverse_text, lengths: [3] }]\n",
  text: "curriculum: { estimator: { pilots: pilots.jsonl } }\n",
  files: { "pilots.jsonl": pilots },
};
const box =
  "curriculum: { arms: { box: { length: [1, 24] } }, sampler: { fit_every: 20, components: [1, 2] } }\n";

const points = ["rollout.prompts=8"];

const labelled = Array.from({ length: 24 }, (_, i) =>
  JSON.stringify({ prompt: `say ${i}`, answer: String(i), advisers_right: i % 5, goal: i % 3 }),
).join("\n");
const labels = {
  tasks: 'tasks: [{ dataset: tasks.jsonl, prompt: "{prompt}", answer: "{answer}" }]\n',
  files: { "tasks.jsonl": labelled },
};
/** The preset's own tasks, which are what it is about. */
const own = { tasks: "" };

const programs = {
  tasks: 'tasks: [{ dataset: programs.jsonl, prompt: "{prompt}", solution: "{solution}" }]\n',
  set: ["reward.terms.tests.field=tests"],
  files: {
    "programs.jsonl": Array.from({ length: 12 }, (_, i) =>
      JSON.stringify({ prompt: `f = ${i}`, solution: `f =\\\n${i}`, tests: [`assert f == ${i}`] }),
    ).join("\n"),
  },
};

/** By the preset's name. */
export const curriculumPresets: Readonly<Record<string, Short>> = {
  adarft: {},
  e2h: {},
  "e2h-cosine": {},
  "level-replay": { text: prompts },
  "level-replay-robust": { text: prompts },
  lilo: { text: prompts },
  "reinforce-ada": {},
  rlve: { set: ["rollout.group=4", "curriculum.sampler.groups=2"] },
  "speed-rl": {
    text: "curriculum: { arms: { use: prompt, pool: 12 }, budget: { initial: 2 } }\n",
    set: ["rollout.group=6"],
  },
  vcrl: { text: prompts },
  adcl: { text: "curriculum: { arms: { use: prompt, pool: 12 }, estimator: { samples: 2, blocks: 3 } }\n" },
  again: {
    text: "curriculum: { arms: { box: { length: [1, 24] } }, sampler: { fit_every: 20, components: [1, 2], probe_every: 20, probe_points: 3, probe_samples: 2 } }\n",
    set: points,
  },
  "alp-gmm": { text: box, set: points },
  "balanced-filtering": {},
  bots: { text: prompts },
  "bayesian-mixture": pilot,
  clpo: { ...own, set: ["tasks.simpler.generate.author=program", "tasks.other.generate.author=program"] },
  "codev-r1": {},
  "critique-coder": {
    tasks:
      "tasks: [{ env: reverse_text, lengths: [2, 3] }, { name: critique, weight: 0.25, generate: { from: [reverse_text], selector: { use: success_band, low: 0, high: 1 }, transform: critique, gates: [], every: 1, parents: 4 } }]\n",
  },
  cures: {},
  dapo: {},
  drive: {
    text: "stages: { broad: { steps: 2 }, hard: { steps: 6, rollout: { group: 4, prompts: 3 }, curriculum: { arms: { pool: 12 }, admission: { keep: [9, 6, 4], every: [2, 2, 2] } } } }\n",
  },
  dump: {},
  "eva-sampling": {},
  "gain-rl": { text: "curriculum: { arms: { use: prompt, pool: 12 }, sampler: { width: 3, step: 2 } }\n" },
  "goal-curriculum": { ...labels },
  guru: { text: "curriculum: { arms: { use: prompt, pool: 12 }, estimator: { samples: 3 } }\n" },
  "kimi-k1.5-sampling": {
    text: "stages: { curriculum: { steps: 3, curriculum: { arms: { use: prompt, pool: 12 } } }, prioritised: { steps: 3, curriculum: { arms: { use: prompt, pool: 12 } } } }\n",
  },
  "light-r1": {
    text: "stages: { sft: { steps: 1 }, sft-hard: { steps: 1 }, preferences: { steps: 1 }, reinforced: { steps: 4, rollout: { group: 4 } } }\n",
  },
  "mm-eureka": {},
  modomodo: pilot,
  mopps: { text: prompts },
  "mopps-threshold": { text: prompts },
  pcl: { text: "curriculum: { arms: { use: prompt, pool: 12 } }\n" },
  nft: {},
  ngu: { set: ["curriculum.budget.rounds=3"] },
  "pcl-value-model": {
    text: "models: { value: { base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 96 } }\ncurriculum: { arms: { use: prompt, pool: 12 } }\n",
  },
  "pooled-prior": { text: prompts },
  prime: {},
  "restarted-posterior": {},
  rlcs: { text: prompts },
  "rif-rft": {},
  "rlpr-filter": {},
  sari: { text: "curriculum: { arms: { use: prompt, pool: 12 }, estimator: { samples: 2 } }\n" },
  "scale-rl": { text: prompts },
  sec: {},
  "sec-released": {},
  self: {},
  "self-repellent": {},
  "snapshot-rl": { set: ["model.context=256"] },
  "step-tiers": { text: prompts },
  stepcoder: {},
  "stepcoder-tests": programs,
  tscl: {},
  sws: {
    ...own,
    text: "stages: { initial: { steps: 3, rollout: { group: 4 }, curriculum: { arms: { pool: 12 } } }, augmented: { steps: 3, rollout: { group: 4 }, curriculum: { arms: { pool: 12 } } } }\n",
  },
  "verified-prerequisites": {},
  "vla-rl": {},
  "warm-start-prefill": {},
};

/** A preset's short run: config, values that are set, files next to it. */
export function shortRun(
  preset: string,
  steps = 6,
): [string, readonly string[], Readonly<Record<string, string>>] {
  const { tasks = twoLengths, text = "", set = [], files = {} } = curriculumPresets[preset] ?? {};
  const limit = text.includes("stages:") ? "" : `steps: ${steps}\n`;
  return [`extends: ${preset}\n${tasks}${tinyRun}${limit}${text}`, set, files];
}
