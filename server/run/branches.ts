/** Fresh continuations from the beginning of each step of each rollout: what every such state is worth (VinePPO). */
import { UserError } from "../../shared/errors.ts";
import { origin, type Batch, type RolloutRecord } from "../seams.ts";
import { TokenReader } from "../tokenTexts.ts";
import type { Draft } from "./assemble.ts";
import { decodeOptions, type Place } from "./collect.ts";
import { rollOut } from "./generate.ts";

/** Steps of a row: as it recorded them, else what the text's `split` ends. A token that spans two is of the first. */
function stepsOf(batch: Batch, row: number, split: string, reader: TokenReader): RolloutRecord["steps"] {
  const recorded = batch.records[row]!.steps;
  if (recorded !== undefined) return recorded;
  const { text, starts } = reader.row(batch, row);
  const begins = [0];
  for (let at = text.indexOf(split); at >= 0; at = text.indexOf(split, at + split.length)) {
    const token = starts.findIndex((start) => start >= at + split.length);
    if (token > begins.at(-1)! && token < starts.length - 1) begins.push(token);
  }
  return begins.map((begin, k) => [begin, begins[k + 1] ?? starts.length - 1] as const);
}

/** A state to go on from: a row's tokens before one of its steps, and where its value is written. */
interface State {
  readonly row: number;
  readonly token: number;
}

/** Every step's beginning; a group's rollouts share the first. */
function statesOf({ rows, records, group, offsets }: Batch): State[] {
  const begun = new Set<number>();
  return Array.from({ length: rows }, (_, row) => row).flatMap((row) =>
    (records[row]!.steps ?? []).flatMap(([token]): State[] => {
      if (offsets[row] === offsets[row + 1] || (token === 0 && begun.has(group[row]!))) return [];
      if (token === 0) begun.add(group[row]!);
      return [{ row, token }];
    }),
  );
}

function draftsFrom({ row, token }: State, batch: Batch, k: number, place: Place): Draft[] {
  const { task, arm, group, index } = batch.records[row]!;
  const { offsets, values } = batch.context;
  const start = batch.offsets[row]!;
  const prefix = batch.tokens.slice(start, start + token);
  const written = batch.origin
    .subarray(start, start + token)
    .filter((kind) => kind === origin.written).length;
  const max_tokens = Math.max(1, place.stage.config.body.rollout.max_tokens - written);
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
      key: ["branch", place.step, group, index, token, n],
    },
  }));
}

/**
 * Where the advantage asks for them: writes and pays k continuations of every state, and gives the batch its steps and,
 * at their first tokens, the continuations' mean reward as `values`. They are rollouts of use `estimate`: they train
 * nothing and are not kept.
 */
export async function withBranchValues(place: Place, batch: Batch): Promise<Batch> {
  const { session, stage, clock, watch } = place;
  const { algorithm, scorer } = stage;
  if (algorithm.branches === undefined) return batch;
  const { k, split } = algorithm.branches;
  const decode = decodeOptions(place);
  if (decode.grammar !== undefined) throw underGrammar();
  const reader = new TokenReader(session.policy.tokenizer, "advantage.baseline: monte_carlo");
  const records = batch.records.map((record, row) => {
    const steps = stepsOf(batch, row, split, reader);
    return steps === undefined ? record : { ...record, steps };
  });
  const stepped: Batch = { ...batch, records };
  const states = statesOf(stepped);
  const drafts = states.flatMap((state) => draftsFrom(state, stepped, k, place));
  const written = await watch.time("generate", () => rollOut(session.policy, drafts, decode));
  const masked = algorithm.masked(written);
  const context = {
    models: session.models,
    tokenizer: session.policy.tokenizer,
    clock,
    signal: session.signal,
  };
  const columns = await watch.time("reward", () => scorer.scorePlain(masked, context));
  const { total, errored } = algorithm.rewards(columns, masked, clock).combined;
  const values = new Float64Array(batch.tokens.length).fill(Number.NaN);
  states.forEach(({ row, token }, n) => {
    const own = Array.from({ length: k }, (_, i) => n * k + i).filter(
      (i) => errored[i] === 0 && !Number.isNaN(total[i]!),
    );
    const value = own.reduce((sum, i) => sum + total[i]!, 0) / own.length;
    if (token > 0) values[batch.offsets[row]! + token] = value;
    else
      for (let sibling = 0; sibling < batch.rows; sibling++)
        if (
          batch.group[sibling] === batch.group[row] &&
          batch.offsets[sibling]! < batch.offsets[sibling + 1]!
        )
          values[batch.offsets[sibling]!] = value;
  });
  return { ...stepped, columns: { ...batch.columns, values } };
}

const underGrammar = (): UserError =>
  new UserError(
    "advantage.baseline: monte_carlo goes on from the middle of responses, which a grammar forbids",
    {
      code: "branches-grammar",
      action: "Remove rollout.grammar, or choose another advantage.baseline.",
    },
  );
