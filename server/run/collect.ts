/** A step's rollouts: draw, generate, reward, admit, and again until there are enough admitted groups or no more are worth drawing. */
import type { Scored } from "../algorithm.ts";
import { rowsOfGroups } from "../batch.ts";
import { valueAt } from "../config/declaration.ts";
import { annealed } from "../config/rollout.ts";
import { UserError } from "../../shared/errors.ts";
import type { Batch, Clock, DecodeOptions, Group, RewardColumn, Stats, Verdict } from "../seams.ts";
import { concatenate } from "./assemble.ts";
import { joinColumns } from "./columns.ts";
import { constraintsOf } from "./decoding.ts";
import { draftsOf, placesOf, rollOut } from "./generate.ts";
import { withGreedyBaseline } from "./greedy.ts";
import type { Session } from "./session.ts";
import type { Stage } from "./stage.ts";
import type { Stopwatch } from "./timing.ts";
import { randomStream } from "../random.ts";

/** Everything that was generated in a step, admitted or not; the mask slot has been applied. */
export interface Collected {
  readonly batch: Batch;
  readonly scored: Scored;
  readonly groups: readonly Group[];
  /** One per group. */
  readonly verdicts: readonly Verdict[];
  /** Rows of the admitted groups. */
  readonly admitted: readonly number[];
  readonly rounds: number;
  /** Value heads that the advantage reads, once they were scored. */
  readonly heads?: Stats;
}

/** Where a step happens, and what it is measured by. */
export interface Place {
  readonly session: Session;
  readonly stage: Stage;
  readonly clock: Clock;
  /** Number of the step in the log. */
  readonly step: number;
  readonly watch: Stopwatch;
}

export function decodeOptions({
  session,
  stage,
  clock,
}: Pick<Place, "session" | "stage" | "clock">): DecodeOptions {
  const { rollout } = stage.config.body;
  const temperature = valueAt(rollout.temperature, clock);
  return {
    max_tokens: rollout.max_tokens,
    temperature,
    ...(rollout.anneal === undefined ? {} : { temperature_at: annealed(temperature, rollout.anneal, clock) }),
    ...(rollout.top_k > 0 ? { top_k: rollout.top_k } : {}),
    ...(rollout.top_p < 1 ? { top_p: rollout.top_p } : {}),
    ...(rollout.min_p > 0 ? { min_p: rollout.min_p } : {}),
    ...constraintsOf(rollout, session.policy.tokenizer),
    seed: session.config.seed,
    signal: session.signal,
  };
}

/** One round: `n` groups drawn, written, rewarded. */
async function round(
  place: Place,
  n: number,
  taken: Set<string>,
  number: number,
): Promise<{ batch: Batch; columns: RewardColumn[] } | null> {
  const { session, stage, clock, step, watch } = place;
  const drawn = stage.curriculum.draw(n, randomStream(session.config.seed, "draw", step, number), clock);
  if (drawn.length === 0) return null;
  const places = placesOf(drawn, taken);
  const drafts = draftsOf(
    places,
    stage.config.body.rollout.group,
    session.policy,
    ["rollout", step],
    "train",
    stage.config.body.rollout,
  );
  const written = await watch.time("generate", () =>
    rollOut(session.policy, drafts, decodeOptions(place), session.interrupted),
  );
  const batch = await withGreedyBaseline(place, places, stage.algorithm.masked(written));
  const context = {
    models: session.models,
    tokenizer: session.policy.tokenizer,
    clock,
    signal: session.signal,
  };
  return { batch, columns: await watch.time("reward", () => stage.scorer.scorePlain(batch, context)) };
}

/** Verdicts in order; groups beyond the number wanted are left out, so that a step's size does not depend on luck. */
function judge({ curriculum }: Stage, groups: readonly Group[], wanted: number): Verdict[] {
  let kept = 0;
  return groups.map((group) => {
    const verdict = curriculum.admit(group);
    if (!verdict.admitted) return verdict;
    kept += 1;
    return kept > wanted ? { admitted: false, reason: "the step has as many groups as it wants" } : verdict;
  });
}

export async function collect(place: Place): Promise<Collected> {
  const { stage, clock } = place;
  const wanted = stage.config.body.rollout.prompts;
  const taken = new Set<string>();
  const batches: Batch[] = [];
  const columns: RewardColumn[][] = [];
  const state = { admitted: 0, drawn: 0, round: 0 };
  for (let ask = wanted; ask > 0; ask = stage.curriculum.more({ wanted, ...state })) {
    const more = await round(place, ask, taken, state.round);
    if (more === null) break;
    batches.push(more.batch);
    columns.push(more.columns);
    const groups = stage.algorithm.groups(
      more.batch,
      stage.algorithm.rewards(more.columns, more.batch, clock),
    );
    state.admitted += groups.filter((group) => stage.curriculum.admit(group).admitted).length;
    state.drawn += groups.length;
    state.round += 1;
  }
  return union(place, batches, columns, wanted);
}

function union(
  { stage, clock }: Place,
  batches: readonly Batch[],
  columns: readonly RewardColumn[][],
  wanted: number,
): Collected {
  const [first, ...rest] = batches;
  if (first === undefined)
    throw new UserError("Every task source of this stage is used up.", {
      code: "tasks-empty",
      action: "Raise `epochs`, add data, or shorten the stage.",
    });
  const batch = concatenate([first, ...rest]);
  const scored = stage.algorithm.rewards(joinColumns(columns), batch, clock);
  const groups = stage.algorithm.groups(batch, scored);
  const verdicts = judge(stage, groups, wanted);
  const admitted = rowsOfGroups(batch).flatMap((rows, group) => (verdicts[group]!.admitted ? rows : []));
  return { batch, scored, groups, verdicts, admitted, rounds: batches.length };
}
