/** What a trainer reported of a step's groups, as the curriculum sees groups: rewards combined and advantages computed as in a run. */
import { describeGroups, describeRewards, describeStep } from "../../../algorithm/advantages/describe.ts";
import type { Algorithm } from "../../../algorithm/algorithm.ts";
import { groupsOf } from "../../../algorithm/rewards/groups.ts";
import { columnOf, type Scores } from "../../../algorithm/rewards/rewards.ts";
import type { Clock } from "../../../core/basics.ts";
import type { RewardColumn } from "../../../core/reward.ts";
import type { Batch, Group } from "../../../core/rollouts.ts";
import { batchOfSamples, writtenRow } from "../../../core/rows/sampledRows.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { nearest } from "../../../lib/suggest.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import { fromWire } from "../../../../shared/rollouts/rollouts.ts";
import type { NamedTask } from "./drawnStep.ts";
import type { Reported } from "./requests.ts";

export interface Outcomes {
  /** One of each drawn task, in the order of the draw; one that was not reported has no reward. */
  readonly groups: readonly Group[];
  readonly metrics: Readonly<Record<string, number>>;
}

/** A drawn task with what was reported of it. */
interface Known {
  readonly drawn: NamedTask;
  readonly reported: Reported;
  readonly rollouts: number;
}

/** Rewards of rows without terms. */
const whole = "total";

/**
 * @param algorithm of the step's stage; it learns from the step, once
 * @throws UserError that names the group and the term
 */
export function outcomesOf(
  algorithm: Algorithm,
  clock: Clock,
  drawn: readonly NamedTask[],
  reported: ReadonlyMap<string, Reported>,
): Outcomes {
  const known = drawn.flatMap((one): Known[] => {
    const own = reported.get(one.id);
    return own === undefined ? [] : [{ drawn: one, reported: own, rollouts: rolloutsOf(own) }];
  });
  const found = known.some(({ rollouts }) => rollouts > 0) ? scored(algorithm, clock, known) : undefined;
  return {
    groups: drawn.map((one) => found?.groups.get(one.id) ?? unscored(one)),
    metrics: found?.metrics ?? {},
  };
}

const unscored = ({ task, arm }: NamedTask): Group => ({
  task,
  arm,
  rewards: new Float64Array(),
  advantages: new Float64Array(),
  successes: 0,
  lengths: new Float64Array(),
});

/** How many rollouts the group has. @throws UserError where its lists differ in length */
function rolloutsOf({ task, rewards, advantages, lengths, responses }: Reported): number {
  const lists: [string, readonly unknown[] | undefined][] = [
    ...(Array.isArray(rewards)
      ? ([["rewards", rewards]] as const)
      : Object.entries(rewards).map(([term, values]) => [`rewards.${term}`, values] as const)),
    ["advantages", advantages],
    ["lengths", lengths],
    ["responses", responses],
  ].map(([name, list]): [string, readonly unknown[] | undefined] => [String(name), listOf(list)]);
  const [[first, list] = ["rewards", []]] = lists;
  const count = list?.length ?? 0;
  const odd = lists.find(([, other]) => other !== undefined && other.length !== count);
  if (odd === undefined) return count;
  throw new UserError(
    `group ${JSON.stringify(task)}: ${odd[0]} has ${odd[1]?.length} entries, but ${first} has ${count}`,
    { code: "service-request", action: "Give each list one entry a rollout; null where there is none." },
  );
}
const listOf = (value: unknown): readonly unknown[] | undefined => (Array.isArray(value) ? value : undefined);

function scored(
  algorithm: Algorithm,
  clock: Clock,
  known: readonly Known[],
): { readonly groups: ReadonlyMap<string, Group>; readonly metrics: Outcomes["metrics"] } {
  const counted = known.filter(({ rollouts }) => rollouts > 0);
  const batch = batchOf(counted);
  const scores = algorithm.rewards(columnsOf(algorithm, counted, batch), batch, clock);
  const given = counted.every(({ reported }) => reported.advantages !== undefined);
  const advantages = given
    ? undefined
    : algorithm.advantages(scores.combined, batch, { logp: new Float64Array(batch.rows) }, clock);
  algorithm.observe(scores.combined, batch);
  const groups = groupsOf(batch, scores, advantages).map((group, i) =>
    completed(group, counted[i]!, keptOf(scores, counted, i)),
  );
  const metrics =
    advantages === undefined
      ? { ...describeRewards(scores), ...describeGroups(groups) }
      : describeStep(
          batch,
          scores,
          { batch, advantages, weights: new Float64Array(batch.rows).fill(1) },
          groups,
        );
  return { groups: new Map(groups.map((group, i) => [counted[i]!.drawn.id, group])), metrics };
}

/** One token stands for a response: of its length only the curriculum's signals know. */
const batchOf = (known: readonly Known[]): Batch =>
  batchOfSamples(
    known.flatMap(({ drawn: { id, task, arm }, reported: { responses }, rollouts }) =>
      Array.from({ length: rollouts }, (_, index) =>
        writtenRow(
          {
            ...{ task, arm, group: id, index, prompt: task.prompt, response: responses?.[index] ?? "" },
            ...{ finish: "stop", source: "self", use: "train" },
          },
          new Int32Array(1),
          new Int32Array(0),
        ),
      ),
    ),
  );

/** One a term of the config, and one more of whole rewards where there are any. */
function columnsOf(algorithm: Algorithm, known: readonly Known[], batch: Batch): RewardColumn[] {
  const { terms } = algorithm.body.reward;
  const names = terms.map(({ name }) => name);
  for (const { reported } of known) checkNames(reported, names);
  const columns = names.map((name) =>
    columnOf(
      name,
      known.flatMap(({ reported: { rewards }, rollouts }) => {
        const own = Array.isArray(rewards) ? undefined : rewards[name];
        return Array.from({ length: rollouts }, (_, i): TermValue => termValue(own?.[i] ?? null));
      }),
      batch,
    ),
  );
  if (!known.some(({ reported: { rewards } }) => Array.isArray(rewards))) return columns;
  const totals = known.flatMap(({ reported: { rewards }, rollouts }) =>
    Array.from({ length: rollouts }, (_, i): TermValue =>
      termValue(Array.isArray(rewards) ? (rewards[i] ?? null) : null),
    ),
  );
  return [...columns, columnOf(whole, totals, batch)];
}

function termValue(value: Parameters<typeof fromWire>[0]): TermValue {
  if (value === null) return { kind: "none" };
  const number = fromWire(value);
  return Number.isFinite(number)
    ? { kind: "value", value: number }
    : { kind: "error", message: `the reported reward is ${number}` };
}

function checkNames({ task, rewards }: Reported, names: readonly string[]): void {
  if (Array.isArray(rewards)) return;
  const other = Object.keys(rewards).find((name) => !names.includes(name));
  if (other === undefined) return;
  const near = nearest(other, names);
  throw new UserError(
    `group ${JSON.stringify(task)}: the config has no reward term ${JSON.stringify(other)}${near === undefined ? "" : `, did you mean ${JSON.stringify(near)}?`}`,
    {
      code: "service-term",
      action: `Its terms are ${names.join(", ") || "none"}: name these, or report whole rewards as a list.`,
    },
  );
}

/** Of a group's rollouts those that have a reward, by their index. */
function keptOf({ combined }: Scores, known: readonly Known[], group: number): number[] {
  const before = known.slice(0, group).reduce((sum, { rollouts }) => sum + rollouts, 0);
  return Array.from({ length: known[group]!.rollouts }, (_, i) => i).filter(
    (i) => combined.errored[before + i] === 0 && !Number.isNaN(combined.total[before + i]!),
  );
}

function completed(
  group: Group,
  { reported: { advantages, lengths } }: Known,
  kept: readonly number[],
): Group {
  return {
    ...group,
    ...(lengths && { lengths: Float64Array.from(kept, (i) => lengths[i]!) }),
    ...(advantages && { advantages: Float64Array.from(kept, (i) => advantages[i]!) }),
  };
}
