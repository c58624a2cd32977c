/** 12 projects of a config and what it names, and for each of their parts who can do without it. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { convert } from "../../server/frameworks/trainers/convert.ts";

export type Question = "explain" | "reward";
export interface Part {
  readonly name: string;
  /** Takes it away, or makes it wrong. */
  readonly withdraw: (folder: string) => void;
  /** Who does not need it. */
  readonly spares: readonly Question[];
}
export interface Project {
  readonly name: string;
  readonly file: string;
  readonly make: (folder: string) => void;
  readonly parts: readonly Part[];
}

export const all: readonly Question[] = ["explain", "reward"];
const gone = (path: string, spares = all): Part => ({
  name: `without ${path}`,
  withdraw: (folder) => rmSync(join(folder, path), { recursive: true }),
  spares,
});
const edited = (file: string, name: string, change: (text: string) => string, spares = all): Part => ({
  name,
  withdraw: (folder) => {
    const before = readFileSync(join(folder, file), "utf8");
    const after = change(before);
    assert.notEqual(after, before, name);
    writeFileSync(join(folder, file), after);
  },
  spares,
});

export const own = "a.gradus.yaml";
const sums = Array.from(
  { length: 6 },
  (_, i) => `{"question": "What is ${i} + 1?", "answer": "${i + 1}"}\n`,
).join("");
const fromData = 'tasks: [{ name: sums, dataset: train.jsonl, prompt: "{question}", answer: "{answer}" }]\n';
const base =
  "model: { base: tiny }\nrollout: { prompts: 4, group: 4, max_tokens: 16 }\nupdate: { mini_batch: 8, optimizer: { use: adamw, lr: 1.0e-5 } }\n";
const correct = "reward: { terms: { correct: ./good.ts } }\n";
const good =
  "export const score = ({ response, task }: any) => (response.trim() === task.answer ? 1 : 0);\nexport default score;\n";
const add = (name: string, line: string): Part => edited(own, name, (text) => text + line);
const ownParts: readonly Part[] = [
  edited(own, "with a model that is not there", (text) => text.replace("base: tiny", "base: ./gone")),
  edited(own, "with a batch that does not divide", (text) => text.replace("mini_batch: 8", "mini_batch: 5"), [
    "reward",
  ]),
  edited(own, "with a wrong optimiser", (text) => text.replace("adamw", "adamx")),
  add("with a wrong sampler", "curriculum: { sampler: nonesuch }\n"),
  add("with a wrong key of evaluation", "evaluation: { evry: 2 }\n"),
  add("with a key of nobody's", "bogus: 3\n"),
];

const ownProject = (name: string, text: string, parts: readonly Part[] = []): Project => ({
  name,
  file: own,
  make: (folder) => {
    writeFileSync(join(folder, own), base + text);
    writeFileSync(join(folder, "train.jsonl"), sums);
    writeFileSync(join(folder, "good.ts"), good);
  },
  parts: [...ownParts, ...parts],
});
const noData = gone("train.jsonl", ["explain"]);
const made = "tasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\n";

const copied = (name: string, from: string, file: string, parts: readonly Part[]): Project => ({
  name,
  file,
  make: (folder) => cpSync(from, folder, { recursive: true }),
  parts,
});
const written = (name: string, file: string, text: string, parts: readonly Part[]): Project => ({
  name,
  file,
  make: (folder) => {
    mkdirSync(join(folder, "models/tiny"), { recursive: true });
    writeFileSync(join(folder, "train.jsonl"), sums);
    writeFileSync(join(folder, file), text);
  },
  parts: [gone("models"), noData, ...parts],
});
const changes = (file: string, from: string, to: string, spares = all): Part =>
  edited(file, `with ${to}`, (text) => text.replace(from, to), spares);

const prime =
  'max_steps = 4\n[model]\nname = "models/tiny"\n[deployment]\nnum_train_gpus = 1\n[orchestrator]\nbatch_size = 16\ngroup_size = 4\n';

export const projects: readonly Project[] = [
  ownProject("own, with data and a function", fromData + correct, [noData, gone("good.ts", ["explain"])]),
  ownProject("own, with data and a method", `${fromData}reward: { terms: { correct: numeric } }\n`, [noData]),
  ownProject("own, with made tasks", made),
  ownProject("own, with stages", `${made}stages: [{ name: one, steps: 2 }, { name: two, steps: 2 }]\n`),
  ownProject(
    "own, with a second function",
    `${fromData}reward: { success: { terms: [correct] }, terms: { correct: numeric, more: { use: ./good.ts, weight: 0 } } }\n`,
    [noData, gone("good.ts", ["explain"])],
  ),
  ownProject(
    "own, with a second file of data",
    `${fromData.replace("]", ', { name: more, dataset: train.jsonl, prompt: "Now: {question}", answer: "{answer}" }]')}${correct}`,
    [noData],
  ),
  copied("verl, a launch", "test/fixtures/projects/gsm", "run.sh", [
    gone("data/test.parquet"),
    gone("data/train.parquet", ["explain"]),
    gone("reward.py", ["explain"]),
    changes("run.sh", "ppo_mini_batch_size=8", "ppo_mini_batch_size=7", ["reward"]),
  ]),
  copied("TRL, a script", "test/fixtures/projects/trl", "train.py", [
    gone("data/train.parquet", ["explain"]),
    changes("train.py", "Qwen/Qwen2.5-0.5B-Instruct", "./gone"),
  ]),
  written(
    "TRL, a config",
    "trl.yaml",
    "model_name_or_path: models/tiny\ndataset_name: train.jsonl\nnum_generations: 4\nper_device_train_batch_size: 8\nmax_steps: 4\n",
    [],
  ),
  written(
    "OpenRLHF",
    "run.sh",
    "python3 -m openrlhf.cli.train_ppo_ray --pretrain models/tiny --prompt_data train.jsonl --input_key question --label_key answer --advantage_estimator rloo --n_samples_per_prompt 4 --rollout_batch_size 8 --train_batch_size 16\n",
    [changes("run.sh", "--train_batch_size 16", "--train_batch_size 15", [])],
  ),
  written(
    "SkyRL",
    "run.sh",
    "uv run -m skyrl.train.entrypoints.main_base trainer.policy.model.path=models/tiny data.train_data=['train.jsonl'] trainer.algorithm.advantage_estimator=grpo generator.n_samples_per_prompt=4 trainer.train_batch_size=4 trainer.policy_mini_batch_size=2\n",
    [],
  ),
  {
    name: "prime-rl, converted",
    file: own,
    make: (folder) => {
      mkdirSync(join(folder, "models/tiny"), { recursive: true });
      writeFileSync(join(folder, own), `name: prime\n${convert(join(folder, "rl.toml"), prime).config}`);
    },
    parts: [gone("models"), add("with a key of nobody's", "bogus: 3\n")],
  },
];
