import {
  assignment,
  assignments,
  gridSize,
  sweepChoices,
  type SweepChoice,
} from "../../config/sweep/trials.ts";
import type { Diagnostic } from "../../config/check/diagnostic.ts";
import type { ConfigModel } from "../../config/check/model.ts";
import type { Origin } from "../../config/text/node.ts";
import { mostTrials, type SweepConfig } from "../../core/blocks/sweep.ts";
import { at as nodeAt, keyOf, type Rule } from "../rule.ts";
import { parameterProblem } from "./parameterProblem.ts";

/** Configs that are read at each key that is pressed, and where there is time. */
const fewest = 8;
const most = 1000;

/** The config takes every value of the sweep. */
export const sweepValue: Rule = {
  id: "sweep-value",
  title: "Sweep over a value that the config does not take",
  why: "Each run of a sweep is the config with its values set, as `--set` would. While you write, the config is read with a few combinations in which each value comes up; `gradus validate` and `gradus run` read it with every combination, up to 1,000 of them, before anything starts. A key that does not exist, a value out of its range, and a combination that some rule refuses are found there, not hours later in the middle of the sweep.",
  check(model) {
    const { sweep, seed } = model.config;
    const { withSet } = model;
    if (sweep === undefined || withSet === undefined) return;
    const sound = sweep.parameters.every((one) => parameterProblem(one, sweep.method) === undefined);
    if (!sound || (sweep.method === "grid" && gridSize(sweep.parameters) > mostTrials)) return;
    const choices = model.thorough ? sweepChoices(sweep, seed).slice(0, most) : few(sweep, seed);
    const problems = choices.flatMap((choice) =>
      withSet(assignments(choice))
        .filter(({ severity }) => severity === "error")
        .map((problem) => ({ choice, problem })),
    );
    if (problems.length === 0) return;
    // What is wrong with the config itself is said where it is wrong.
    const said = new Set(withSet([]).map(({ message }) => message));
    for (const { choice, problem } of problems) say(model, choice, problem, said);
  },
};

/** Combinations in which each value comes up; of a range its ends and one within. */
function few(sweep: SweepConfig, seed: number): readonly SweepChoice[] {
  const drawn = sweep.method === "random" ? sweepChoices({ ...sweep, trials: 1 }, seed)[0] : undefined;
  const tried = sweep.parameters.map(({ key, values, min, max, step }) => {
    const ends = [min, max, step === undefined ? drawn?.[key] : (min ?? 0) + step];
    return [key, values ?? ends.filter((value) => value !== undefined)] as const;
  });
  const count = Math.min(fewest, Math.max(0, ...tried.map(([, values]) => values.length)));
  return Array.from({ length: count }, (_, at) =>
    Object.fromEntries(tried.map(([key, values]) => [key, values[at % values.length]!])),
  );
}

function say(model: ConfigModel, choice: SweepChoice, problem: Diagnostic, said: Set<string>): void {
  const { root, report, edits } = model;
  const words = problem.option?.message ?? problem.message;
  const keys = Object.keys(choice);
  // An error of an assignment names it; any other comes of the values together.
  const key = keys.find((one) => problem.option?.text === `--set ${assignment(one, choice[one]!)}`);
  const names = key === undefined ? keys : [key];
  const unknown = problem.rule === "unknown-key" || problem.rule === "unknown-name";
  const message = unknown && key !== undefined ? words : `With ${valuesText(choice, names)}: ${words}`;
  if (said.has(message) || (key === undefined && said.has(words))) return;
  said.add(message);
  if (key === undefined) said.add(words);
  const path = ["sweep", "parameters", ...(key === undefined ? [] : [key])];
  report({
    rule: sweepValue.id,
    message,
    key: path.join("."),
    at: placeOf(model, choice, key, unknown) ?? root.origin,
    fileFixes: key === undefined ? [] : [edits.remove(path, `Remove \`${key}\` from the sweep`, false)],
  });
}

const valuesText = (choice: SweepChoice, keys: readonly string[]): string =>
  keys.map((key) => `\`${key}\` ${JSON.stringify(choice[key])}`).join(" and ");

/** @param name it is the key that is wrong, not its value */
function placeOf(
  { root }: ConfigModel,
  choice: SweepChoice,
  key: string | undefined,
  name: boolean,
): Origin | undefined {
  if (key === undefined) return keyOf(root, "sweep", "parameters");
  if (name) return keyOf(root, "sweep", "parameters", key);
  const values = nodeAt(root, "sweep", "parameters", key, "values");
  const at =
    values?.kind === "list"
      ? values.items.find((item) => item.kind === "scalar" && item.value === choice[key])
      : undefined;
  return at?.origin ?? keyOf(root, "sweep", "parameters", key);
}
