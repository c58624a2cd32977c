/** The config that `gradus init` writes, and `gradus presets PRESET` prints. */
import { stringify } from "yaml";
import { isObject, objectOf } from "../../../shared/lib/json.ts";
import type { Choices } from "./choices.ts";
import { rewardName } from "./reward.ts";

/**
 * @param context tokens of the model's context, where the preset names none
 * @param about the preset, as lines of a comment; none: the commands that take the file
 */
export const configText = (choices: Choices, context: number, about: readonly string[] = []): string =>
  [
    head(choices, about.length === 0 ? commands(choices) : about),
    model(choices, context),
    tasks(choices),
    curriculum(choices),
    rollout(choices),
    reward(choices),
    optimizer(choices),
    stages(choices),
    evaluation(choices),
  ]
    .filter((block) => block !== "")
    .join("\n\n") + "\n";

function commands(choices: Choices): readonly string[] {
  const { configName, ownWorld } = choices;
  const lines = [
    ["validate", "", "checks it before anything runs"],
    ["resolve", "", "shows every value and where it comes from"],
    ["run", " --dry-run", "one step: values of each term, time, memory"],
    ["run", "", "trains it here and follows it"],
  ].map(([command, flag, does]) => [`gradus ${command} ${configName}${flag}`, does] as const);
  const width = Math.max(42, ...lines.map(([command]) => command.length)) + 1;
  return [
    `# A curriculum, a reward and the training of a small language model${
      ownWorld || choices.has("stages") ? "." : ": about a minute on two cores."
    }`,
    ...lines.map(([command, does]) => `#   ${command.padEnd(width)}${does}`),
  ];
}

function head(choices: Choices, lines: readonly string[]): string {
  const { preset, ownWorld, how } = choices;
  return `${lines.join("\n")}

# A published method to start from: \`gradus presets\` lists them. Everything below ${
    ownWorld ? "fits it to this machine" : how.isAlone ? "is what it leaves open" : "changes it"
  }.
extends: ${stringify(preset).trim()}
name: ${ownWorld || how.isAlone ? stringify(preset).trim() : "countdown"}
seed: 1`;
}

const model = (choices: Choices, context: number): string =>
  `# The policy: a transformer of 0.36 million parameters, from random weights. Or name a model's path.
model: { base: tiny, width: 96, layers: 3, heads: 4, hidden: 256${
    choices.has("model.context") ? "" : `, context: ${context}`
  } }`;

const tasks = (choices: Choices): string =>
  choices.has("tasks")
    ? ""
    : `# The tasks: reach a number from 2 or 3 others with + - *. "3 5 7=22:" is answered by "3*5+7".
# Each count of numbers is one arm of the curriculum.
tasks:
  - { env: countdown, numbers: [2, 3] }`;

/** \`sec\` names the same choices; they are written out to be changed. */
const curriculum = (choices: Choices): string =>
  choices.how.isAlone || (choices.preset !== "sec" && (choices.has("curriculum") || choices.ownWorld))
    ? ""
    : `# Which task comes next: the arms on which the model learns most.
curriculum:
  arms: difficulty
  signal: mean_abs_advantage
  estimator: { use: ema, alpha: 0.5 }
  sampler: { use: boltzmann, temperature: 0.4 }`;

/** With these a step of the slowest world takes some ten seconds on two cores. */
const mostTurns = 6;

/** An episode in a world has many turns: few of them take as long as many answers do. */
function rollout(choices: Choices): string {
  const open = choices.open("rollout", [
    ["prompts", choices.ownWorld ? "8" : "32"],
    ["group", choices.ownWorld ? "4" : "8"],
    ["max_tokens", "16"],
    ["temperature", "1"],
  ]);
  const turns =
    Number(choices.get("rollout.shape.turns") ?? 0) > mostTurns ? `shape: { turns: ${mostTurns} }` : "";
  const all = [open, turns].filter((part) => part !== "").join(", ");
  return all === "" ? "" : `rollout: { ${all} }`;
}

function reward(choices: Choices): string {
  if (choices.ownWorld || (choices.how.isAlone && choices.has("reward.terms"))) return "";
  if (choices.rewardsOwn) return besides(choices);
  return `reward:
  terms:
    # Exact: 1 where the equation is right, else 0.
    correct: { use: equation }
    # A function of your own: a factor, 1 for an answer without a superfluous character, else less.
    brevity: { use: ./${rewardName} }${combined(choices)}${success(choices)}`;
}

const combined = (choices: Choices): string =>
  choices.has("reward.combine")
    ? ""
    : `
  # The terms are multiplied, so brevity is rewarded only where the answer is right. A sum would
  # reward brief wrong answers too. In a group of wrong answers nothing else would differ, and
  # dividing by the group's spread would make even a small weight large: the policy would learn to
  # say nothing. With a sum, let the function return null for wrong answers.
  combine: product`;

const success = (choices: Choices): string =>
  choices.has("reward.success")
    ? ""
    : `
  # What counts as solved in pass@k.
  success: { terms: [correct], at_least: 1 }`;

/** One more term than the preset has says what is right. */
const besides = (choices: Choices): string =>
  choices.has("reward.terms.correct")
    ? ""
    : `# ${choices.has("reward.terms") ? "In addition to the preset's terms: " : ""}1 where the equation is right, else 0.
reward:
  terms:
    correct: { use: equation }${success(choices)}`;

function optimizer(choices: Choices): string {
  // Published rates are for models a thousand times as large.
  const first = [choices.open("update.optimizer", [["use", "adamw"]]), "lr: 3.0e-4"];
  const others = choices.open("update.optimizer", [
    ["warmup", "10"],
    ["clip_norm", "1"],
  ]);
  return `update:
  optimizer: { ${[...first, others].filter((part) => part !== "").join(", ")} }`;
}

const warmUp = (name: string): string =>
  `# Supervised learning on written solutions comes first: from random weights no answer would ever
# be right, and there would be nothing to reinforce. With a trained \`model.base\` it may go.
stages:
  - name: ${name}
    kind: sft
    steps: 300
    batch: 64
    update: { optimizer: { lr: 2.0e-3, warmup: 20 } }`;

function stages(choices: Choices): string {
  const own = choices.get("stages");
  const { needsWarmUp } = choices.how;
  if (own === undefined) {
    const steps = choices.has("steps") ? "" : "steps: 80";
    if (choices.ownWorld && !needsWarmUp) return steps;
    return `${warmUp("warm-up")}\n  - { name: reinforce${steps === "" ? "" : `, ${steps}`} }`;
  }
  if (!needsWarmUp) return "";
  // A list replaces the preset's: its stages are written again, after the first.
  const list = stagesOf(own);
  const name = list.some((stage) => stage["name"] === "warm-up") ? "imitate" : "warm-up";
  return `${warmUp(name)}\n${stringify({ stages: list })
    .replace(/^stages:\n/, "")
    .trimEnd()}`;
}

const stagesOf = (own: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(own)
    ? own.filter(isObject)
    : Object.entries(objectOf(own)).map(([name, stage]) => ({ name, ...objectOf(stage) }));

function evaluation(choices: Choices): string {
  const open = choices.open("evaluation", [
    ["every", "40"],
    ["prompts", choices.ownWorld ? "16" : "128"],
    ["pass_at", choices.ownWorld ? "[1]" : "[1, 8]"],
  ]);
  const measured = `# Measured on tasks that training never draws, before the first rollout and after the last.
evaluation: { ${open} }`;
  return choices.has("checkpoint") ? measured : `${measured}\ncheckpoint: { every: 100, keep: 3 }`;
}
