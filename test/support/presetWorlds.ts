/** What a short run of each preset needs: the data that its page asks for, and sizes of a few seconds. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { curriculumPresets } from "./curriculumPresets.ts";
import { twoLengths } from "./replayedRun.ts";

/** What a preset needs in addition to the common run. */
export interface World {
  readonly tasks?: string;
  /** Without the preset, where its own tasks are added to or are what it is about. */
  readonly plain?: string;
  readonly text?: string;
  readonly set?: readonly string[];
  /** Set with the preset and without it. */
  readonly both?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
}

const letters = "abcdefghijklmnopqrstuvwxyz";
const data = (first: number): string =>
  Array.from({ length: 12 }, (_, i) => {
    const word = letters.slice(first + i, first + i + 2);
    const solution = `${word[1]}\n${word[0]}`;
    return JSON.stringify({
      prompt: `turn ${word}`,
      answer: `${word[1]}${word[0]}`,
      ...{ solution, hint: `begin with ${word[1]}`, feedback: "the other way", level: i % 3 },
      rubric: [{ criterion: "is short" }, { criterion: "has letters" }],
      rules: [{ criterion: "begins early in the alphabet", regex: "^[a-m]" }],
      ...{ scores: [2, 1], documents: `begin with ${word[1]}.` },
      tests: [`assert f("${word}") == 1`],
      examples: [0, 1].map((label) => ({ text: word[label]!, label })),
      files: { "a.txt": word },
      oracle: { "a.txt": `${word}s` },
      chosen: `${word[1]}${word[0]}`,
      rejected: word,
    });
  }).join("\n");
const fields =
  'prompt: "{prompt}", answer: "{answer}", solution: "{solution}", chosen: "{chosen}", rejected: "{rejected}", difficulty: level';

const logged = ["ab", "bc", "cd", "no"]
  .flatMap((word) =>
    [1, 0].map((reward, index) =>
      JSON.stringify({
        ...{ step: 0, group: word, index, prompt: `turn ${word}`, reward },
        response: reward === 1 ? `${word[1]}${word[0]}` : word,
      }),
    ),
  )
  .join("\n");

const common: Required<Pick<World, "tasks" | "files">> = {
  tasks: `tasks: [{ name: one, dataset: one.jsonl, ${fields} }, { name: two, dataset: two.jsonl, ${fields} }]\n`,
  files: {
    "one.jsonl": data(0),
    "two.jsonl": data(12),
    "few.jsonl": data(4).split("\n").slice(0, 4).join("\n"),
    "log.jsonl": logged,
  },
};

/** Rollouts are few and short; half of the letters are right, so that groups are mixed, all right and all wrong. */
const small = `model: { base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 512 }
rollout: { prompts: 3, max_tokens: 4 }
reward: { terms: { right: { use: format, pattern: "[ -M].*" } } }
evaluation: { every: 1000, prompts: 1, pass_at: [1], record: 0 }
`;

/** Most groups fail, which is when help is asked for. */
const failing = { both: ['reward.terms.right.pattern="[a-c].*"'] };
/** More than one update a step: the weights are not those that wrote the rollouts. */
const moving = { both: ["update.epochs=3", "update.optimizer.lr=0.01"] };
/** A response has several steps. */
const lettered = { both: ['rollout.steps={ regex: "[a-zA-Z]" }'] };
/** A server judges: a model that was just made says nothing that can be read. */
const judged = (term: string): { readonly set: readonly string[] } => ({
  set: [`reward.terms.${term}.judge={ url: URL, model: any }`],
});
/** A combiner has something to combine. */
const twoTerms = { both: ['reward.terms.other={ use: format, pattern: "[a-m].*", weight: 0.5 }'] };
const log: World = { text: "replay: { use: file, path: log.jsonl, rescore: recomputed }\n" };
/** Of two tasks one is half right, and the other never. */
const apart = {
  tasks: common.tasks,
  both: [
    "reward.terms.right.tasks=[one]",
    'reward.terms.never={ use: format, pattern: "zzzz", tasks: [two] }',
    "steps=8",
  ],
};
const branching: World = {
  both: ["rollout.branch={ use: top_entropy, k: 2, children: 2 }", "rollout.group=6"],
};
const countdown = "tasks: { countdown: { env: countdown, numbers: [3] } }\n";
/** Tasks are made of others in every step, from the first one that has seen any. */
/** Tasks come again. */
const few = `tasks: [{ name: one, dataset: few.jsonl, ${fields} }]\n`;
const making = (...names: readonly string[]): World => ({
  tasks: countdown,
  plain: "tasks: [{ env: countdown, numbers: [3] }]\n",
  set: names.flatMap((name) => [
    `tasks.${name}.generate.every=1`,
    `tasks.${name}.generate.selector={ use: success_band, low: 0, high: 1 }`,
  ]),
});

/** Another model writes tasks with the answer of the one that it is shown. */
const authored: World = { tasks: "", plain: "tasks: [{ env: countdown }]\n" };

const searching = ["rollout.shape.turns=3"];
/** Tests are assert lines of the common data, that no program of an untrained model passes. */
const tested = ["reward.terms.tests.field=tests"];

/** What its page says to add, by the preset's name. */
export const worlds: Readonly<Record<string, World>> = {
  // They bring worlds of their own, and prompts that are longer than a word.
  ...Object.fromEntries(
    ["babyai-text", "glam", "words-as-beacons", "dialogue-shaping", "flag-trader", "human2sim2robot"]
      .concat("non-linear-reasoning")
      .map((name): [string, World] => [
        name,
        { tasks: "", both: ["model.context=4096"], set: ["rollout.shape.turns=3"] },
      ]),
  ),
  "r1-searcher-tools": {
    tasks: "",
    both: ["model.context=4096"],
    set: [...searching, "stages.searching.reward.terms.form.tags=[think]"],
  },
  "paverl-sql": {
    tasks: "",
    both: ["model.context=4096"],
    // No untrained model writes a query that runs.
    set: ["rollout.grammar={ regex: 'SELECT (name|land) FROM towns' }", "rollout.max_tokens=40"],
  },
  "mars-sql": {
    tasks: "",
    both: ["model.context=4096"],
    set: [
      ...searching,
      "rollout.grammar={ regex: '<sql>[a-c]</sql>|<answer>SELECT name FROM towns</answer>' }",
      "rollout.max_tokens=40",
    ],
  },
  rere: { set: ['reward.terms.hit={ use: format, pattern: "[ -M].*" }'] },
  "guru-suite": { tasks: "", both: ["model.context=4096"] },
  "verl-tool": { tasks: "", both: ["model.context=4096"], set: searching },
  "stepcoder-tests": { both: moving.both, set: tested },
  "rltf-tests": { set: tested },
  "search-r1": { tasks: "", both: ["model.context=4096"], set: searching },
  trace: { tasks: "", both: ["model.context=4096"], set: searching },
  // The model of the run writes no searches of its own accord, so noise is seen where it must.
  zerosearch: {
    tasks: "",
    both: ["model.context=4096", "rollout.grammar={ regex: '<search>[a-m]</search>' }"],
    set: [...searching, "rollout.tools.0.noise=1", "rollout.max_tokens=20"],
  },
  "parallel-scaling": { tasks: "" },
  rlrf: { tasks: "", both: ["model.context=4096"] },
  dpt: { tasks: "", set: ["stages.pretraining.steps=3", "stages.practice.steps=3"] },
  "rl-compositionality": { tasks: "", set: ["stages.functions.steps=3", "stages.composition.steps=3"] },
  "a-lol": { text: "replay: { use: file, path: log.jsonl }\n" },
  "arpo-prefix": branching,
  "balanced-filtering": failing,
  "gated-rewards": twoTerms,
  "pessimistic-ensemble": twoTerms,
  "soft-min": twoTerms,
  "cosine-verifier": judged("verifier"),
  "disagreement-queries": {
    set: [...judged("asked").set, "reward.terms.agree.within=0", "steps=4"],
  },
  "mr-rml": {
    set: [
      "stages.distil.steps=4",
      "stages.reinforce.steps=2",
      "stages.distil.reward.terms.judged-accuracy.field=rules",
      "stages.distil.reward.terms.judged-safety.field=rules",
    ],
  },
  ledex: { set: [...tested, "reward.terms.explained.field=answer"] },
  "multi-critique": {
    set: [...judged("critics").set, "reward.terms.critics.also=[{ url: URL, model: other }]"],
  },
  "pairwise-rl": judged("wins"),
  biprm: lettered,
  "clip-delta": lettered,
  "tp-grpo": { both: lettered.both, set: judged("process").set },
  ppr: { both: lettered.both, set: judged("process").set },
  "prm-code": { both: lettered.both, set: ['reward.terms.correct={ use: format, pattern: "[ -Z].*" }'] },
  "prm-code-critic": {
    both: [...lettered.both, "model.context=512"],
    set: ['reward.terms.correct={ use: format, pattern: "[ -Z].*" }'],
  },
  // An untrained policy writes no plan.
  "pta-grpo": { set: ["reward.terms.plan.at=steps", "reward.terms.plan.k=2"] },
  "plug-and-play-judge": judged("judge"),
  rlsp: judged("effort"),
  "ssr-zero": { set: [...judged("own").set, 'reward.terms.form={ use: format, pattern: "[ -M].*" }'] },
  trm: judged("sentences"),
  urpo: judged("own"),
  // Its criteria need no judge: a model that was just made says neither yes nor no.
  rubicon: { set: ["reward.terms.quality.field=rules"] },
  "codev-r1": { both: ['reward.terms.right.pattern="[a-c].*"', "rollout.prompts=6"] },
  "deepsearch-advantage": branching,
  dqo: log,
  dro: log,
  envgen: { ...making("generated"), set: ["tasks.generated.generate.every=1"] },
  duoguard: authored,
  "prompt-rl": authored,
  // Steps so large that an evaluation finds the weights worse.
  "rl-100": {
    both: ["evaluation.every=1", "evaluation.prompts=4", "update.optimizer.lr=0.1", "steps=6"],
  },
  eva: making("deeper", "broader"),
  ghpo: failing,
  gmpo: { both: [...moving.both, "update.mini_batch=12"] },
  gspo: moving,
  guide: failing,
  "hint-writer": failing,
  hicra: { text: "advantage: { token_weights: [{ use: phrases, alpha: 0.2, list: [a, e, o, t] }] }\n" },
  "human-in-the-loop": { text: "replay: { use: file, path: log.jsonl }\n" },
  oreo: log,
  "process-supervision": { both: ['reward.terms.right.pattern="[ -M].*"', ...lettered.both] },
  "rif-rft": failing,
  rmt: { both: ["rollout.max_tokens=24", "steps=6"] },
  // Its filter begins at the tenth step.
  rlprompt: { set: ['reward.terms.gap.labels=["a", "b"]', "rollout.max_tokens=5"] },
  "rlpr-filter": { both: [...failing.both, "steps=14"] },
  // The judge is a model that was just made, and says neither yes nor no.
  "rubric-dropout": judged("rubric"),
  ruscarl: { both: ["reward.max_failed_steps=0"] },
  sec: apart,
  "sec-released": apart,
  self: { both: ['reward.terms.right.pattern="[ -Z].*"', "rollout.prompts=8"] },
  "solution-cache": { both: ["steps=8"], tasks: few },
  // An untrained policy writes no task that the environment can read.
  "syn-grpo": {
    ...making("variants"),
    set: [...(making("variants").set ?? []), "tasks.variants.generate.author=program"],
  },
  sws: {
    ...curriculumPresets["sws"],
    both: ['reward.terms.right.pattern="[a-p].*"'],
    set: [
      "curriculum.arms.pool=4",
      "stages.initial.steps=6",
      "tasks.weakness.generate.first=5",
      ...["author.url=URL", "answer.by.url=URL"].map((one) => `tasks.weakness.generate.${one}`),
      "tasks.weakness.generate.gates=[{ use: judges, judges: [{ url: URL, model: any }] }, { use: success_band, low: 0.125, high: 0.875 }]",
    ],
  },
  "verified-prerequisites": {
    tasks: twoLengths,
    text: "curriculum: { sampler: { requires: { reverse_text/3: [reverse_text/2] } } }\n",
  },
  // The answers of an untrained model are less likely than that.
  "webrl-replay": { set: ["replay.admission.perplexity=[1, 1000]"] },
  "webrl-tasks": {
    ...making("evolved"),
    both: [...failing.both, "rollout.prompts=8"],
    set: [
      "tasks.evolved.generate.every=1",
      "tasks.evolved.generate.transform.parents=2",
      "tasks.evolved.generate.author={ use: endpoint, url: URL, model: any }",
      "tasks.evolved.generate.gates=[{ use: judges, judges: [{ url: URL, model: any }] }]",
    ],
  },
  "socratic-zero": {
    ...making("curriculum"),
    set: [
      ...(making("curriculum").set ?? []),
      "tasks.curriculum.generate.author={ use: endpoint, url: URL, model: any }",
    ],
  },
  pear: log,
  stepcoder: {},
  "teach-my-agent": { ...curriculumPresets["alp-gmm"], tasks: twoLengths },
  "vla-rl": apart,
  "warm-start-prefill": {},
  ric: log,
};

/** With the files that it names. */
export function worldOf(preset: string): World {
  const known = curriculumPresets[preset];
  const world = worlds[preset] ?? (known === undefined ? {} : { ...known, tasks: known.tasks ?? twoLengths });
  return { ...world, files: { ...common.files, ...world.files } };
}

/** The same without what is said for the preset's own parts. */
export const plainOf = ({ tasks, plain, both, files }: World): World => ({
  ...(plain === undefined && tasks === undefined ? {} : { tasks: (plain ?? tasks) || ownTasks }),
  ...(both === undefined ? {} : { both }),
  ...(files === undefined ? {} : { files }),
});
/** What presets draw from that bring tasks of their own. */
const ownTasks = "tasks: [{ env: countdown }]\n";

/** @param bases what it extends */
export function textOf(bases: readonly string[], { tasks = common.tasks, text = "" }: World): string {
  const first = bases.length === 0 ? "" : `extends: [${bases.join(", ")}]\n`;
  return `${first}${tasks}${small}${text}`;
}

export const bodyOf = (preset: string): string => readFileSync(join("presets", `${preset}.yaml`), "utf8");
