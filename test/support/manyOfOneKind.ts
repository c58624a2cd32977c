/** Texts of configs with very many of one kind, right and wrong: what goes through all of them for each is noticed. */

const list = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => `${line(index)}\n`).join("");
const tasks = "tasks: [{ env: arithmetic }]\n";
const reward = "reward: { terms: { c: { use: exact_match } } }\n";

export const many: Readonly<Record<string, (count: number) => string>> = {
  "unknown keys": (n) => tasks + reward + list(n, (i) => `unknown_key_${i}: 1`),
  "unknown keys of a block": (n) => `${tasks}${reward}update:\n${list(n, (i) => `  zz_${i}: 1`)}`,
  "keys that differ by a letter": (n) =>
    `${reward}tasks:\n${list(n, (i) => `  - { name: t${i}, envv: arithmetic }`)}`,
  "tasks with a name": (n) => `${reward}tasks:\n${list(n, (i) => `  - name: t${i}\n    env: arithmetic`)}`,
  "tasks of one environment": (n) => `${reward}tasks:\n${list(n, () => "  - { env: arithmetic }")}`,
  "tasks of one name": (n) => `${reward}tasks:\n${list(n, () => "  - { name: t, env: arithmetic }")}`,
  "tasks of one file": (n) =>
    `${reward}tasks:\n${list(n, (i) => `  - { name: t${i}, dataset: ./d.jsonl, prompt: "{p}${i % 3}", answer: "{p}" }`)}`,
  "rewards that say the same": (n) =>
    `${tasks}reward:\n  terms:\n${list(n, (i) => `    r${i}: { use: exact_match }`)}`,
  "rewards that no method is": (n) =>
    `${tasks}reward:\n  terms:\n${list(n, (i) => `    r${i}: { use: exact_matc${i} }`)}`,
  "stages that change nothing": (n) =>
    `${tasks}${reward}stages:\n${list(n, (i) => `  - { name: s${i}, steps: 10 }`)}`,
  "stages of examples": (n) =>
    `${tasks}${reward}stages:\n${list(n, (i) => `  - { name: s${i}, kind: sft, steps: 10 }`)}`,
  "stages with an override": (n) =>
    `${tasks}${reward}stages:\n${list(n, (i) => `  - { name: s${i}, steps: 10, update: { optimizer: { lr: 1.0e-4 } } }`)}`,
  "stages with an unknown key": (n) =>
    `${tasks}${reward}stages:\n${list(n, (i) => `  - { name: s${i}, steps: 10, zz: 1 }`)}`,
  "unknown keys of a stage": (n) =>
    `${tasks}${reward}stages:\n  - name: s\n    steps: 10\n${list(n, (i) => `    zz_${i}: 1`)}`,
  models: (n) => `${tasks}${reward}models:\n${list(n, (i) => `  m${i}: { base: tiny }`)}`,
  "one key again and again": (n) => tasks + reward + list(n, () => "seed: 1"),
};
