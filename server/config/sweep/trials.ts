/** The runs of a sweep: each combination of values with each seed, in the order in which they are made. Pure. */
import type { Json } from "../../../shared/lib/json.ts";
import type { SweepConfig, SweepParameter } from "../../core/blocks/sweep.ts";
import { randomStream, type Random } from "../../lib/random.ts";

/** A combination of values: key of the config → value. */
export type SweepChoice = Readonly<Record<string, Json>>;

export interface SweepTrial {
  /** From 1 on. */
  readonly number: number;
  readonly choice: SweepChoice;
  readonly seed: number;
}

/** Of a value that nobody can see the end of. */
const digits = 4;
/** Combinations that are drawn in the hope of one that was not, for each that is wanted. */
const patience = 100;

/** Every combination has its first seed before any has its second: half a sweep already compares all of them. */
export function sweepTrials(sweep: SweepConfig, seed: number): readonly SweepTrial[] {
  const choices = sweepChoices(sweep, seed);
  return sweepSeeds(sweep, seed).flatMap((own, round) =>
    choices.map((choice, at) => ({ number: round * choices.length + at + 1, choice, seed: own })),
  );
}

export const sweepSeeds = ({ seeds }: SweepConfig, seed: number): readonly number[] =>
  typeof seeds === "number" ? Array.from({ length: seeds }, (_, at) => seed + at) : [...new Set(seeds)];

export const sweepChoices = (sweep: SweepConfig, seed: number): readonly SweepChoice[] =>
  sweep.method === "grid" ? gridChoices(sweep.parameters) : randomChoices(sweep, seed);

/** How many combinations a grid has; of a huge one they are not made. */
export const gridSize = (parameters: readonly SweepParameter[]): number =>
  parameters.reduce((product, parameter) => product * sizeOf(parameter), 1);

/** The last parameter moves fastest. */
const gridChoices = (parameters: readonly SweepParameter[]): readonly SweepChoice[] =>
  parameters.reduce<readonly SweepChoice[]>(
    (choices, parameter) =>
      choices.flatMap((choice) =>
        listedValues(parameter).map((value) => ({ ...choice, [parameter.key]: value })),
      ),
    [{}],
  );

/** Of a parameter whose values can be counted; of another none. */
function listedValues({ values, min, max, step }: SweepParameter): readonly Json[] {
  if (values !== undefined) return values;
  if (min === undefined || max === undefined || step === undefined) return [];
  return Array.from({ length: stepsOf(min, max, step) }, (_, at) => rounded(min + at * step));
}

function sizeOf({ values, min, max, step }: SweepParameter): number {
  if (values !== undefined) return values.length;
  return min === undefined || max === undefined || step === undefined ? 0 : stepsOf(min, max, step);
}

const stepsOf = (min: number, max: number, step: number): number =>
  Math.max(0, Math.floor((max - min) / step + 1e-9) + 1);

/** Of sums of steps: 0.1 + 0.2 is 0.3. */
const rounded = (value: number): number => Number(value.toPrecision(12));

/**
 * The first combinations that differ. Each value has a stream of its own, so that more trials, and other parameters,
 * leave the earlier ones as they were.
 */
function randomChoices({ parameters, trials = 0 }: SweepConfig, seed: number): readonly SweepChoice[] {
  const found = new Map<string, SweepChoice>();
  const counted = parameters.every(({ values, step }) => values !== undefined || step !== undefined);
  const wanted = counted ? Math.min(trials, gridSize(parameters)) : trials;
  for (let draw = 0; found.size < wanted && draw < wanted * patience; draw++) {
    const choice = Object.fromEntries(
      parameters.map((parameter) => [
        parameter.key,
        drawn(parameter, randomStream(seed, "sweep", draw, parameter.key)),
      ]),
    );
    const key = JSON.stringify(choice);
    if (!found.has(key)) found.set(key, choice);
  }
  return [...found.values()];
}

function drawn({ values, min = 0, max = 0, scale, step }: SweepParameter, random: Random): Json {
  if (values !== undefined) return values[random.integer(values.length)]!;
  const even = random.next();
  const value =
    scale === "log" ? Math.exp(Math.log(min) + even * Math.log(max / min)) : min + even * (max - min);
  if (step === undefined) return Math.min(max, Math.max(min, Number(value.toPrecision(digits))));
  // In a linear scale each step has the same share: the ends too, which rounding would halve.
  const steps = stepsOf(min, max, step);
  const at = scale === "log" ? Math.round((value - min) / step) : Math.floor(even * steps);
  return rounded(min + Math.min(steps - 1, at) * step);
}

/** As `--set` takes it. */
export const assignments = (choice: SweepChoice): readonly string[] =>
  Object.entries(choice).map(([key, value]) => assignment(key, value));

export const assignment = (key: string, value: Json): string => `${key}=${JSON.stringify(value)}`;
