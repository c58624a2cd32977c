/** The history that a run's rollouts tell: the groups that its curriculum saw. */
import { fromWire, type RolloutRow } from "../../shared/rollouts.ts";

/** A line of a history, as `read.ts` reads it. */
export interface HistoryLine {
  readonly step: number;
  readonly task: string;
  readonly arm: string;
  readonly rewards: readonly number[];
  readonly advantages?: readonly number[];
  readonly admitted: boolean;
  readonly lengths: readonly number[];
}

/** Written to be measured, or to try a task out: the curriculum saw no group of them. */
const counts = ({ use }: RolloutRow): boolean => use === undefined || use === "train";
/** A rollout that could not be scored has left its group. */
const scored = ({ reward }: RolloutRow): boolean => reward !== undefined && Number.isFinite(fromWire(reward));

/** What was said to the policy in the middle of a rollout has no length. */
const lengthOf = ({ tokens = [], origin }: RolloutRow): number =>
  tokens.length - (origin?.filter((kind) => kind === "observed").length ?? 0);

function lineOf(rows: readonly RolloutRow[]): HistoryLine | undefined {
  const [first] = rows;
  const { id, arm } = first?.task ?? {};
  if (first === undefined || arm === undefined) return undefined;
  const good = rows.filter(scored).sort((a, b) => a.index - b.index);
  const advantages = good.map(({ advantage }) => fromWire(advantage ?? null));
  return {
    step: first.step,
    task: id ?? first.group,
    arm,
    rewards: good.map(({ reward }) => fromWire(reward ?? null)),
    ...(advantages.every(Number.isFinite) ? { advantages } : {}),
    admitted: first.admitted ?? true,
    lengths: good.map(lengthOf),
  };
}

/** Groups of one step, in the order in which they were drawn; rollouts without an arm are left out. */
export function historyOf(rows: readonly RolloutRow[]): HistoryLine[] {
  const groups = new Map<string, RolloutRow[]>();
  for (const row of rows.filter(counts)) {
    const own = groups.get(row.group);
    if (own === undefined) groups.set(row.group, [row]);
    else own.push(row);
  }
  return [...groups.values()].flatMap((group) => lineOf(group) ?? []);
}
