/** A history: what became of each group of a run, one JSON object a line. */
import { z } from "zod";
import type { JsonObject } from "../../../shared/lib/json.ts";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { fromWire, parseJson, type RowPlace } from "../../../shared/rollouts/rollouts.ts";
import { recordSchema, type CurriculumRecord } from "../../algorithm/curriculum/curriculumRecord.ts";
import { jsonLines } from "../../lib/jsonLines.ts";

const wire = z.union([z.number(), z.enum(["NaN", "Infinity", "-Infinity"])]);
const lineSchema = z.object({
  step: z.number().int().nonnegative(),
  task: z.union([z.string(), z.number()]).transform(String),
  arm: z.string().min(1),
  rewards: z.array(wire.nullable()),
  advantages: z.array(wire.nullable()).optional(),
  /** Whether it trained then. What the replayed config admits is its own affair. */
  admitted: z.boolean().optional(),
  /** Tokens of each rollout. */
  lengths: z.array(z.number().nonnegative()).optional(),
  successes: z.number().nonnegative().optional(),
  data: z.record(z.string(), z.json()).optional(),
  curriculum: recordSchema.optional(),
});

/** A group of rollouts of one task. */
export interface HistoryGroup {
  readonly step: number;
  readonly task: string;
  readonly arm: string;
  /** Combined reward of each rollout that has one. */
  readonly rewards: readonly number[];
  /** Absent where none were recorded. */
  readonly advantages?: readonly number[];
  readonly admitted?: boolean;
  readonly lengths?: readonly number[];
  /** How many of the rollouts count as a success; absent: the config's criterion decides it by the rewards. */
  readonly successes?: number;
  /** Values of the task's data. */
  readonly data?: JsonObject;
  /** Of a step's first line: what the run recorded of its curriculum. */
  readonly curriculum?: CurriculumRecord;
  readonly place: RowPlace;
}

/**
 * The groups of a file, by step ascending and otherwise in the file's order; blank lines are skipped.
 * @throws UserError with the line that is no group, or whose numbers are not finite
 */
export async function readHistory(file: string): Promise<HistoryGroup[]> {
  const groups = await jsonLines(file, parseGroup, {
    what: "history",
    code: "history-missing",
    action: "Check the path given to --history.",
  });
  if (groups.length === 0)
    throw new UserError("there is no group in the file", {
      file,
      code: "history-empty",
      action:
        'Write one object per line: {"step": 0, "task": "t1", "arm": "countdown/3", "rewards": [1, 0]}.',
    });
  return groups.sort((a, b) => a.step - b.step);
}

function parseGroup(text: string, place: RowPlace): HistoryGroup {
  let json: unknown;
  try {
    json = parseJson(text);
  } catch (error) {
    throw refusal(place, `not JSON: ${messageOf(error)}`);
  }
  const parsed = lineSchema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw refusal(place, issueText(issue));
  }
  const { rewards, advantages, lengths, admitted, successes, data, curriculum, ...rest } = parsed.data;
  /** What a list has of the rollouts that have a reward. */
  const paired = <Value>(values: readonly Value[], key: string): Value[] => {
    if (values.length === rewards.length) return values.filter((_, i) => rewards[i] !== null);
    throw refusal(place, `${key} has ${values.length} entries, but rewards has ${rewards.length}`);
  };
  return {
    ...rest,
    ...(admitted === undefined ? {} : { admitted }),
    ...(successes === undefined ? {} : { successes }),
    ...(data === undefined ? {} : { data }),
    ...(curriculum === undefined ? {} : { curriculum }),
    ...(lengths === undefined ? {} : { lengths: paired(lengths, "lengths") }),
    rewards: finite(rewards, "rewards", place),
    ...(advantages === undefined
      ? {}
      : { advantages: finite(paired(advantages, "advantages"), "advantages", place) }),
    place,
  };
}

type InWords = Readonly<Record<string, string>>;
const forms: InWords = {
  step: "a whole number from 0",
  task: "text or a number",
  arm: "text",
  rewards: "a list of numbers",
  advantages: "a list of numbers",
  lengths: "a list of numbers",
  admitted: "true or false",
  successes: "a number from 0",
  data: "a map of the task's values",
  curriculum: "what `gradus runs export --to history` writes",
};
const entries: InWords = {
  rewards: "a number or `null`",
  advantages: "a number or `null`",
  lengths: "a number from 0",
};

/** In words: what a group has, and does not have here. */
function issueText(issue: z.core.$ZodIssue | undefined): string {
  const [key, index] = issue?.path ?? [];
  if (key === undefined) return "a line must be a JSON object";
  const name = String(key);
  const what = index === undefined ? forms[name] : entries[name];
  return `${JSON.stringify(name)}${index === undefined ? "" : `, entry ${String(index)},`} must be ${what ?? "left out"}`;
}

/** null: the rollout has none. */
function finite(
  values: readonly z.output<typeof wire>[] | readonly (z.output<typeof wire> | null)[],
  key: string,
  place: RowPlace,
): number[] {
  return values.flatMap((value, i) => {
    if (value === null) return [];
    const number = fromWire(value);
    if (!Number.isFinite(number))
      throw refusal(
        place,
        `${key}[${i}] is ${number}, which is not a finite number`,
        "Write `null` instead if the value is unknown.",
      );
    return [number];
  });
}

const example =
  'A group is {"step": 0, "task": "t1", "arm": "countdown/3", "rewards": [1, 0]}; `null` means a rollout without a reward.';

const refusal = (place: RowPlace, message: string, action = example): UserError =>
  new UserError(message, { ...place, character: 0, code: "history-line", action });
