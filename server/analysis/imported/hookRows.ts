/**
 * Lines that `gradus_hook.py` wrote, one a call of a reward function about one rollout, as rollouts: several functions judge
 * the same one, and several processes number the members of one group each for itself.
 */
import { isObject, objectOf, type JsonObject, type Json } from "../../../shared/lib/json.ts";
import {
  fromWire,
  toWire,
  wireOf,
  type MaybeNumber,
  type RolloutRow,
  type WireNumber,
  type WireReward,
} from "../../../shared/rollouts/rollouts.ts";

export interface HookLine {
  readonly step: number;
  /** Seconds since 1970. */
  readonly time: number;
  /** Nothing said which step it was: `step` is 0. */
  readonly stepless: boolean;
  /** Which file it is from: indexes count in one. */
  readonly file: number;
  readonly fields: JsonObject;
}

/** How terms are called in the run's config, and what they weigh. A term without a weight weighs 1. */
export interface HookTerms {
  readonly names: Readonly<Record<string, string>>;
  readonly weights: Readonly<Record<string, number>>;
}

/** undefined: it is none of the hook's. */
export function hookLine(value: unknown, file: number): HookLine | undefined {
  if (!isObject(value)) return undefined;
  const { step, time, group, index, call } = value;
  if (!Number.isInteger(step) || typeof time !== "number" || typeof group !== "string") return undefined;
  if (!Number.isInteger(index) || !Number.isInteger(call) || !isObject(value["rewards"])) return undefined;
  return { step: Number(step), time, stepless: value["stepless"] === true, file, fields: value };
}

interface Merged {
  readonly first: JsonObject;
  readonly rewards: Record<string, WireReward>;
  readonly errors: Record<string, string>;
  readonly weights: Record<string, WireNumber>;
  readonly components: Record<string, Readonly<Record<string, WireNumber>>>;
  milliseconds: number;
}

/**
 * @param lines of one step
 * @param taken members that each group has already, from earlier lines of the step; it is brought up to date
 */
export function hookRows(
  lines: readonly HookLine[],
  step: number,
  terms: HookTerms,
  taken = new Map<string, number>(),
): RolloutRow[] {
  const found = new Map<string, Merged>();
  for (const { file, fields } of lines) {
    const key = `${file} ${JSON.stringify([fields["group"], fields["index"], fields["use"]])}`;
    const merged = found.get(key) ?? emptyOf(fields);
    found.set(key, merged);
    add(merged, fields, terms.names);
  }
  return [...found.values()].map((merged) => {
    const group = String(merged.first["group"]);
    const index = taken.get(group) ?? 0;
    taken.set(group, index + 1);
    return rowOf(merged, { step, group, index }, terms.weights);
  });
}

const emptyOf = (first: JsonObject): Merged => ({
  first,
  rewards: {},
  errors: {},
  weights: {},
  components: {},
  milliseconds: 0,
});

function add(merged: Merged, fields: JsonObject, names: HookTerms["names"]): void {
  const named = (term: string): string => names[term] ?? term;
  for (const [term, value] of Object.entries(objectOf(fields["rewards"])))
    merged.rewards[named(term)] = wireOf(value);
  for (const [term, value] of Object.entries(objectOf(fields["errors"])))
    merged.errors[named(term)] = typeof value === "string" ? value : JSON.stringify(value);
  for (const [term, value] of Object.entries(objectOf(fields["weights"]))) {
    const weight = wireOf(value);
    if (weight !== null) merged.weights[named(term)] = weight;
  }
  for (const [term, value] of Object.entries(objectOf(fields["components"])))
    merged.components[named(term)] = numbersOf(objectOf(value));
  const milliseconds = fields["ms"];
  if (typeof milliseconds === "number") merged.milliseconds += milliseconds;
}

const numbersOf = (values: JsonObject): Record<string, WireNumber> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const number = wireOf(value);
      return number === null ? [] : [[name, number] as const];
    }),
  );

function rowOf(
  merged: Merged,
  place: Pick<RolloutRow, "step" | "group" | "index">,
  weights: HookTerms["weights"],
): RolloutRow {
  const { first, rewards, errors, components } = merged;
  const { prompt, response, use } = first;
  const task = objectOf(first["task"]);
  const own = { ...knownOf(weights, rewards, errors), ...merged.weights };
  return {
    ...place,
    task: {
      env: textOf(task["env"]) ?? "hook",
      arm: textOf(task["arm"]) ?? "hook",
      id: textOf(task["id"]) ?? place.group,
      data: objectOf(task["data"]),
    },
    ...(typeof prompt === "string" ? { prompt } : {}),
    response: textOf(response) ?? "",
    use: use === "evaluate" ? "evaluate" : "train",
    rewards,
    ...(Object.keys(errors).length === 0 ? {} : { errors }),
    ...(Object.keys(own).length === 0 ? {} : { weights: own }),
    ...(Object.keys(components).length === 0 ? {} : { components }),
    reward: total(rewards, errors, own),
    ...milliseconds(merged),
  };
}

const textOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

/** Readers keep keys that they do not know. */
const milliseconds = ({ milliseconds: ms }: Merged): object => ({ ms: Math.round(ms * 1000) / 1000 });

const knownOf = (weights: HookTerms["weights"], ...terms: object[]): Record<string, number> =>
  Object.fromEntries(
    Object.entries(weights).filter(([term]) => terms.some((one) => Object.hasOwn(one, term))),
  );

/** null where a term that counts failed, or none applies. */
function total(
  rewards: Readonly<Record<string, WireReward>>,
  errors: Readonly<Record<string, string>>,
  weights: Readonly<Record<string, WireNumber>>,
): MaybeNumber {
  const weightOf = (term: string): number => fromWire(weights[term] ?? 1);
  if (Object.keys(errors).some((term) => weightOf(term) !== 0)) return null;
  let sum: number | undefined;
  for (const [term, value] of Object.entries(rewards)) {
    if (value === null || typeof value === "object" || weightOf(term) === 0) continue;
    sum = (sum ?? 0) + weightOf(term) * fromWire(value);
  }
  return sum === undefined || Number.isNaN(sum) ? null : toWire(sum);
}
