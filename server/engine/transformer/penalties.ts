/**
 * Penalties on tokens that are there already. What a lane has is kept on the device, one number a token of the
 * vocabulary (marks), and a step adds the token it reads: nothing else of it crosses.
 *
 * - `seen` is 1 for every token of prompt and response: the repetition penalty (Keskar et al., CTRL, 2019; as transformers
 *   and vLLM have it) divides what is positive and multiplies what is negative of their logits.
 * - `counts` is how often the response has each token: the frequency penalty is subtracted that often, the presence penalty
 *   once (as OpenAI's interface and vLLM have them).
 */
import { take, type Named, type Ops } from "../../core/ops.ts";
import { type ProgramSpec } from "../devices/runtime.ts";

/** Which marks a program of choosing reads. */
export interface Penalised {
  readonly seen: boolean;
  readonly counts: boolean;
}
export type Mark = keyof Penalised;

export const marksOf = ({ seen, counts }: Penalised): Mark[] => [
  ...(seen ? (["seen"] as const) : []),
  ...(counts ? (["counts"] as const) : []),
];
/** A stream's marks are `[lanes · vocabulary, 1]`. */
export const markFeeds = (penalised: Penalised): ProgramSpec["feeds"] =>
  Object.fromEntries(marksOf(penalised).map((name) => [name, { dtype: "float", rank: 2 }]));
/** Feeds all lanes share. */
export const penaltyFeeds = ({ seen, counts }: Penalised): ProgramSpec["feeds"] => ({
  ...(seen ? { repetition: { dtype: "float", rank: 0 } } : {}),
  ...(counts ? { presence: { dtype: "float", rank: 0 }, frequency: { dtype: "float", rank: 0 } } : {}),
});

/** The marks with one more token of every lane, in place; `at` is lane · vocabulary + token. */
export function markTokens<T>(
  ops: Ops<T>,
  penalised: Penalised,
  marks: Named<T>,
  at: T,
): Partial<Record<Mark, T>> {
  const written: Partial<Record<Mark, T>> = {};
  if (penalised.seen) {
    const ones = ops.shift(ops.zeros([ops.size(at, 0, "int"), 1]), 1);
    written.seen = ops.writeRows(take(marks, "seen"), at, ones);
  }
  if (penalised.counts) {
    const counts = take(marks, "counts");
    written.counts = ops.writeRows(counts, at, ops.shift(ops.gather(counts, at), 1));
  }
  return written;
}

/** Logits `[lanes, vocabulary]` less the penalties. */
export function penalise<T>(
  ops: Ops<T>,
  vocabulary: number,
  { seen, counts }: Penalised,
  logits: T,
  given: Named<T>,
): T {
  const scalar = (value: number): T => ops.floats(Float32Array.of(value), []);
  const marks = (name: Mark): T => ops.reshape(take(given, name), [-1, vocabulary]);
  let penalised = logits;
  if (seen) {
    const times = take(given, "repetition");
    const positive = ops.atLeast(penalised, scalar(0));
    // repetition where negative, 1 / repetition where positive
    const factor = ops.add(ops.mul(positive, ops.sub(ops.div(scalar(1), times), times)), times);
    penalised = ops.mul(penalised, ops.shift(ops.mul(marks("seen"), ops.shift(factor, -1)), 1));
  }
  if (!counts) return penalised;
  const often = marks("counts");
  const less = ops.add(
    ops.mul(often, take(given, "frequency")),
    ops.mul(ops.atLeast(often, scalar(1)), take(given, "presence")),
  );
  return ops.sub(penalised, less);
}

/**
 * Resets lanes, in place: those of `slots` are cleared, then the numbers `at` become `values`. One mark a run: equal
 * buffers inside one graph might be made one.
 */
export const seatMarksSpec = (vocabulary: number): ProgramSpec => ({
  name: "seat marks",
  feeds: {
    marks: { dtype: "float", rank: 2 },
    slots: { dtype: "int", rank: 1 },
    at: { dtype: "int", rank: 1 },
    values: { dtype: "float", rank: 2 },
  },
  build(ops, feeds) {
    const slots = take(feeds, "slots");
    const lanes = ops.reshape(take(feeds, "marks"), [-1, vocabulary]);
    const cleared = ops.writeRows(lanes, slots, ops.zeros([ops.size(slots, 0, "int"), vocabulary]));
    const flat = ops.reshape(cleared, [-1, 1]);
    return { marks: ops.writeRows(flat, take(feeds, "at"), take(feeds, "values")) };
  },
});

/** Marks whose lane i is the old lane `lanes[i]`. */
export const moveMarksSpec = (vocabulary: number): ProgramSpec => ({
  name: "move marks",
  feeds: { marks: { dtype: "float", rank: 2 }, lanes: { dtype: "int", rank: 1 } },
  build(ops, feeds) {
    const lanes = ops.reshape(take(feeds, "marks"), [-1, vocabulary]);
    return { marks: ops.reshape(ops.gather(lanes, take(feeds, "lanes")), [-1, 1]) };
  },
});
