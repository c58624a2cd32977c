/** Fresh continuations from the beginning of each step of each rollout: what every such state is worth (VinePPO). */
import { UserError } from "../../../../shared/lib/errors.ts";
import { origin, type Batch } from "../../../core/rollouts.ts";
import type { Draft } from "./assemble.ts";
import type { Admitted, StepContext } from "../context.ts";
import { stepDecoding } from "./decoding.ts";
import { rollOut } from "./generate.ts";

/** A state to go on from: a row's tokens before one of its steps, and where its value is written. */
interface StepState {
  readonly row: number;
  readonly token: number;
}

/** `k` continuations of each state, state after state. */
export interface Continuations {
  readonly k: number;
  readonly states: readonly StepState[];
  readonly batch: Batch;
}

/** Every step's beginning; a group's rollouts share the first. */
function statesOf({ rows, records, group, offsets }: Batch): StepState[] {
  const started = new Set<number>();
  return Array.from({ length: rows }, (_, row) => row).flatMap((row) =>
    (records[row]!.steps ?? []).flatMap(([token]): StepState[] => {
      if (offsets[row] === offsets[row + 1] || (token === 0 && started.has(group[row]!))) return [];
      if (token === 0) started.add(group[row]!);
      return [{ row, token }];
    }),
  );
}

function draftsFrom({ row, token }: StepState, batch: Batch, k: number, context: StepContext): Draft[] {
  const { task, arm, group, index } = batch.records[row]!;
  const { offsets, values } = batch.context;
  const start = batch.offsets[row]!;
  const prefix = batch.tokens.slice(start, start + token);
  const written = batch.origin
    .subarray(start, start + token)
    .filter((kind) => kind === origin.written).length;
  const max_tokens = Math.max(1, context.stage.config.body.rollout.max_tokens - written);
  return Array.from({ length: k }, (_, n) => ({
    task,
    arm,
    group,
    index: n,
    use: "estimate" as const,
    source: "self" as const,
    prompt: {
      tokens: values.slice(offsets[row], offsets[row + 1]),
      ...(token === 0 ? {} : { prefix }),
      max_tokens,
      key: ["branch", context.step, group, index, token, n],
    },
  }));
}

/** Generates k continuations of every state, where the advantage asks for them. */
export async function generateContinuations(
  context: StepContext,
  { batch }: Admitted,
): Promise<Continuations | undefined> {
  const { session, stage, clock, watch } = context;
  const { branches } = stage.algorithm.needs(clock);
  if (branches === undefined) return undefined;
  const { k } = branches;
  const decode = stepDecoding(context);
  if (decode.grammar !== undefined) throw underGrammar();
  const states = statesOf(batch);
  const drafts = states.flatMap((state) => draftsFrom(state, batch, k, context));
  const generated = await watch.time("generate", () => rollOut(session.policy, drafts, decode));
  return { k, states, batch: generated };
}

/**
 * The batch with the continuations' mean rewards as `values` at the first tokens of steps.
 * @param rewards of the continuations, NaN where a term failed: those do not count
 */
export function withBranchValues(batch: Batch, { k, states }: Continuations, rewards: Float64Array): Batch {
  const values = new Float64Array(batch.tokens.length).fill(Number.NaN);
  states.forEach(({ row, token }, n) => {
    const own = rewards.subarray(n * k, (n + 1) * k).filter((reward) => !Number.isNaN(reward));
    const value = own.reduce((sum, reward) => sum + reward, 0) / own.length;
    if (token > 0) values[batch.offsets[row]! + token] = value;
    else
      for (let sibling = 0; sibling < batch.rows; sibling++)
        if (
          batch.group[sibling] === batch.group[row] &&
          batch.offsets[sibling]! < batch.offsets[sibling + 1]!
        )
          values[batch.offsets[sibling]!] = value;
  });
  return { ...batch, columns: { ...batch.columns, values } };
}

const underGrammar = (): UserError =>
  new UserError(
    "advantage.baseline: monte_carlo continues from the middle of responses, which a grammar does not allow",
    { code: "branches-grammar", action: "Remove rollout.grammar, or choose another advantage.baseline." },
  );
