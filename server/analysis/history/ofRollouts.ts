/** The history that a run's rollouts tell: the groups that its curriculum saw. */
import { isObject, type Json, type JsonObject } from "../../../shared/lib/json.ts";
import { fromWire, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { recordSchema, type CurriculumRecord } from "../../algorithm/curriculum/curriculumRecord.ts";

/** A line of a history, as `read.ts` reads it. */
interface HistoryLine {
  readonly step: number;
  readonly task: string;
  readonly arm: string;
  readonly rewards: readonly number[];
  readonly advantages?: readonly number[];
  readonly admitted: boolean;
  readonly lengths: readonly number[];
  /** Of the rollouts that have a reward, how many count as a success. */
  readonly successes?: number;
  /** Short values of the task's data: numbers that signals and fields of arms read. */
  readonly data?: JsonObject;
  /** Of a step's first line: its stage and clock, the run's seed, and what the curriculum learned from more than the groups. */
  readonly curriculum?: CurriculumRecord;
}

/** Written to be measured, to try a task out, or in an earlier step: the curriculum saw no group of them. */
const counts = ({ use, source }: RolloutRow): boolean =>
  (use === undefined || use === "train") && source !== "replay";
/** A rollout that could not be scored has left its group. */
const scored = ({ reward }: RolloutRow): boolean => reward !== undefined && Number.isFinite(fromWire(reward));

/** What was said to the policy in the middle of a rollout has no length. */
const lengthOf = ({ tokens = [], origin }: RolloutRow): number =>
  tokens.length - (origin?.filter((kind) => kind === "observed").length ?? 0);

const short = 64;
/** Numbers, and texts that are no longer than a name, wherever they are in a task's data. */
function shortValues(data: JsonObject): JsonObject | undefined {
  const entries = Object.entries(data).flatMap(([key, value]): [string, Json][] => {
    if (typeof value === "number" || typeof value === "boolean") return [[key, value]];
    if (typeof value === "string") return value.length > short ? [] : [[key, value]];
    const inside = isObject(value) ? shortValues(value) : undefined;
    return inside === undefined ? [] : [[key, inside]];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function lineOf(rows: readonly RolloutRow[], record: CurriculumRecord | undefined): HistoryLine | undefined {
  const [first] = rows;
  const { id, arm, data: whole = {} } = first?.task ?? {};
  if (first === undefined || arm === undefined) return undefined;
  const good = rows.filter(scored).sort((a, b) => a.index - b.index);
  const advantages = good.map(({ advantage }) => fromWire(advantage ?? null));
  const successes = record?.successes?.[first.group];
  const data = shortValues(whole);
  return {
    step: first.step,
    task: id ?? first.group,
    arm,
    rewards: good.map(({ reward }) => fromWire(reward ?? null)),
    ...(advantages.every(Number.isFinite) ? { advantages } : {}),
    admitted: first.admitted ?? true,
    lengths: good.map(lengthOf),
    ...(successes === undefined ? {} : { successes }),
    ...(data === undefined ? {} : { data }),
  };
}

/**
 * Groups of one step, in the order in which they were drawn; rollouts without an arm are left out. The first line says
 * what the run recorded of the step's curriculum.
 */
export function historyOf(rows: readonly RolloutRow[]): HistoryLine[] {
  const groups = new Map<string, RolloutRow[]>();
  for (const row of rows.filter(counts)) {
    const own = groups.get(row.group);
    if (own === undefined) groups.set(row.group, [row]);
    else own.push(row);
  }
  const record = rows.flatMap(({ curriculum }) => recordSchema.safeParse(curriculum).data ?? [])[0];
  const lines = [...groups.values()].flatMap((group) => lineOf(group, record) ?? []);
  if (record === undefined) return lines;
  const { successes: _, ...curriculum } = record;
  return lines.map((line, i) => (i === 0 ? { ...line, curriculum } : line));
}
