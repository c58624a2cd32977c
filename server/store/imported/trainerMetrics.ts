/** Metrics that verl or TRL logged, under Gradus's names where there are such, else under their own. */
import type { TrainerOutput } from "./findOutput.ts";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import type { DumpTrainer } from "../../../shared/run/origin.ts";
import { parseJson, type WireNumber } from "../../../shared/rollouts/rollouts.ts";
import { limits, readText } from "../../lib/inputFile.ts";
import { isHeldOut } from "./heldOut.ts";
import { named } from "./metricNames.ts";
import type { LoggedRewards } from "./rewardWeights.ts";
import { textLines } from "../../lib/textLines.ts";

export interface TrainerMetrics {
  /** By step, ascending. */
  readonly steps: readonly { readonly step: number; readonly values: Readonly<Record<string, WireNumber>> }[];
  /** TRL: steps that the run made, its reward functions, and what it logged of them, the means of so many steps each. */
  readonly made?: number;
  /** TRL: steps that the run is going to make. */
  readonly planned?: number;
  readonly rewards?: readonly string[];
  readonly logged?: readonly (LoggedRewards & { readonly step: number })[];
  readonly every?: number;
  /** Whether something was measured on held-out tasks. */
  readonly heldOut: boolean;
  /** TRL: steps after which it was. */
  readonly evaluated?: readonly number[];
}

/**
 * Steps whose rollouts answer held-out tasks: all of a folder of validation. TRL writes the file of a step again after an evaluation,
 * whose rollouts have taken the place of the step's.
 */
export const evaluatedSteps = (
  { trainer, isHeldOut, files }: Pick<TrainerOutput, "trainer" | "isHeldOut" | "files">,
  { evaluated = [] }: TrainerMetrics,
): readonly number[] => (isHeldOut ? files.map(({ step }) => step) : trainer === "trl" ? evaluated : []);

export const noMetrics: TrainerMetrics = { steps: [], heldOut: false };

/** @throws UserError where the file cannot be read */
export const readMetrics = (trainer: DumpTrainer, file: string): TrainerMetrics =>
  trainer === "verl" ? verlMetrics(file) : trlMetrics(file);

interface VerlEntry {
  readonly step: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A line of verl's file logger: `{"step": 3, "data": {"critic/score/mean": 0.4, …}}`; the last may be half a line. */
export function verlEntry(line: string): VerlEntry | undefined {
  const entry = objectOf(line);
  const [step, data] = [entry?.["step"], entry?.["data"]];
  return typeof step === "number" && Number.isInteger(step) && isObject(data) ? { step, data } : undefined;
}

function verlMetrics(file: string): TrainerMetrics {
  const steps = new Map<number, Record<string, WireNumber>>();
  let heldOut = false;
  for (const line of textLines(file)) {
    const entry = verlEntry(line);
    if (entry === undefined) continue;
    const { step, data } = entry;
    heldOut ||= Object.keys(data).some(isHeldOut);
    steps.set(step, { ...steps.get(step), ...named("verl", data) });
  }
  return { steps: ascending(steps), heldOut };
}

/** `trainer_state.json`, whose `log_history` has an object a log. */
function trlMetrics(file: string): TrainerMetrics {
  const state = stateOf(file);
  const history: readonly unknown[] = Array.isArray(state["log_history"]) ? state["log_history"] : [];
  const steps = new Map<number, Record<string, WireNumber>>();
  const rewards = new Set<string>();
  const evaluated = new Set<number>();
  for (const entry of history) {
    if (!isObject(entry)) continue;
    const { step, epoch: _, ...data } = entry;
    if (typeof step !== "number" || !Number.isInteger(step)) continue;
    if (Object.keys(data).some((name) => name.startsWith("eval_"))) evaluated.add(step);
    for (const name of Object.keys(data)) {
      const reward = /^rewards\/(.+)\/mean$/.exec(name)?.[1];
      if (reward !== undefined) rewards.add(reward);
    }
    steps.set(step, { ...steps.get(step), ...named("trl", data) });
  }
  const made = state["global_step"];
  const planned = state["max_steps"];
  const every = state["logging_steps"];
  return {
    logged: loggedOf(history, [...rewards]),
    ...(typeof every === "number" ? { every } : {}),
    steps: ascending(steps),
    heldOut: evaluated.size > 0,
    evaluated: [...evaluated],
    rewards: [...rewards],
    ...(typeof made === "number" ? { made } : {}),
    ...(typeof planned === "number" && planned > 0 ? { planned } : {}),
  };
}

function loggedOf(
  history: readonly unknown[],
  rewards: readonly string[],
): readonly (LoggedRewards & { readonly step: number })[] {
  return history.flatMap((entry) => {
    if (!isObject(entry) || typeof entry["reward"] !== "number") return [];
    const parts = rewards.map((reward) => Number(entry[`rewards/${reward}/mean`] ?? Number.NaN));
    return [{ step: Number(entry["step"]), parts, total: entry["reward"] }];
  });
}

function stateOf(file: string): Readonly<Record<string, unknown>> {
  try {
    const state: unknown = parseJson(readText(file, limits.text));
    if (isObject(state)) return state;
    throw new TypeError("it is no JSON object");
  } catch (error) {
    throw new UserError(`The metrics cannot be read: ${messageOf(error)}.`, {
      file,
      code: "import-metrics",
      cause: error,
      action: "Move the file away to import the rollouts without metrics.",
    });
  }
}

const ascending = (
  steps: ReadonlyMap<number, Readonly<Record<string, WireNumber>>>,
): TrainerMetrics["steps"] =>
  [...steps].sort(([one], [other]) => one - other).map(([step, values]) => ({ step, values }));

function objectOf(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = parseJson(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // a line that was being written
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
