/** Actions that the policy takes now in the place of recorded ones, and what the heads of a model say of them. */
import { UserError } from "../../../shared/lib/errors.ts";
import { drawnHead } from "../../methods/objective/values/otherHeads.ts";
import { firstTrained, spansOf } from "../../core/rows/spans.ts";
import { origin, type Batch } from "../../core/rollouts.ts";
import type { Stats } from "../../core/policy.ts";
import type { ObjectiveNeeds } from "../../core/loss.ts";
import type { Draft } from "../step/generate/assemble.ts";
import type { StepContext } from "../step/context.ts";
import { decodeOptions } from "../step/generate/decoding.ts";
import { rollOut } from "../step/generate/generate.ts";
import { headsOf } from "../step/score/modelScores.ts";

/** A state: a row's tokens before one of its actions. */
interface ActionState {
  readonly row: number;
  /** Place in the batch of the action's first token that trains. */
  readonly at: number;
}

function statesOf(batch: Batch, { level }: Redrawn): ActionState[] {
  const { starts, ends, rows } = spansOf(batch, level);
  const trains = Float64Array.from(batch.mask);
  return [...starts.keys()].flatMap((k) => {
    const at = firstTrained(trains, starts[k]!, ends[k]!);
    return at < 0 ? [] : [{ row: rows[k]!, at }];
  });
}

type Redrawn = NonNullable<ObjectiveNeeds["redrawn"]>;

function draftOf({ row, at }: ActionState, batch: Batch, limit: number, key: Key): Draft {
  const { task, arm, group } = batch.records[row]!;
  const start = batch.offsets[row]!;
  const before = batch.tokens.slice(start, at);
  // An attempt begins with all its tokens before it.
  const turn = batch.records[row]!.turns?.findLast((one) => start + one.start <= at);
  const from = start + (turn?.start ?? 0);
  const written = batch.origin.subarray(from, at).filter((kind) => kind === origin.written).length;
  const { offsets, values } = batch.context;
  return {
    task,
    arm,
    group,
    index: at,
    use: "estimate",
    source: "self",
    prompt: {
      tokens: values.slice(offsets[row], offsets[row + 1]),
      ...(before.length === 0 ? {} : { prefix: before }),
      max_tokens: Math.max(1, limit - written),
      key: ["action", ...key, row, at],
    },
  };
}

type Key = readonly (string | number)[];

/** One value a head and state, at the state's token; NaN elsewhere. */
export async function drawnActions(
  context: StepContext,
  batch: Batch,
  redrawn: Redrawn,
  key: Key,
): Promise<Stats> {
  const { session, stage, step } = context;
  // Models have learned in this step already: nothing here waits for a pause that might give the step up.
  const decode = decodeOptions(context);
  const states = statesOf(batch, redrawn);
  if (decode.grammar !== undefined && states.some(({ row, at }) => at > batch.offsets[row]!))
    throw underGrammar();
  const { max_tokens } = stage.config.body.rollout;
  const drafts = states.map((state) => draftOf(state, batch, max_tokens, [step, ...key]));
  const written = await rollOut(session.policy, drafts, decode);
  const values = await headsOf(session.models, redrawn.heads, written, drawnHead);
  return Object.fromEntries(
    Object.entries(values).map(([channel, column]): [string, Float64Array] => {
      const own = new Float64Array(batch.tokens.length).fill(Number.NaN);
      states.forEach(({ at }, i) => (own[at] = column![written.offsets[i + 1]! - 1]!));
      return [channel, own];
    }),
  );
}

const underGrammar = (): UserError =>
  new UserError(
    "A learner that samples actions again continues from the middle of responses, which a grammar does not allow.",
    {
      code: "actions-grammar",
      action: "Remove rollout.grammar, or set the objective's `actions: recorded`.",
    },
  );
