/**
 * Choosing the next token of every lane inside the program, so that no logits cross: adjustments, temperature, filters,
 * one draw by inverse CDF, and what is reported of the choice. `sampling.ts` states the same for one row, plainly.
 */
import { take, type Named, type Ops } from "../../core/ops.ts";
import { type ProgramSpec } from "../devices/runtime.ts";
import { exponentials } from "./exponentials.ts";
import { entropy } from "./head.ts";
import { markFeeds, marksOf, penalise, penaltyFeeds, type Penalised } from "./penalties.ts";

/** What a program of choosing contains; everything else about it is fed. */
export interface Choosing {
  /** `unit`: from softmax(logits), nothing more; `tempered`: from softmax(adjusted / T), filtered; `greedy`: the largest. */
  readonly draw: "unit" | "tempered" | "greedy";
  /** Candidates are sorted first. `count`: top-k, then a nucleus of those; `mass`: a nucleus of the whole vocabulary. */
  readonly top: "none" | "count" | "mass";
  /** min-p. */
  readonly floor: boolean;
  /** Heads with a value for every word, the least of which is added to the logits. */
  readonly perturbed: readonly string[];
  /** A row of a table is added to each lane's logits. */
  readonly adjusted: boolean;
  /** What of a lane's tokens so far its logits are penalised by, after the adjustment. */
  readonly penalised: Penalised;
}
export const choosingKey = ({ draw, top, floor, perturbed, adjusted, penalised }: Choosing): string =>
  [draw, top, floor, `[${perturbed.join()}]`, adjusted, ...marksOf(penalised)].join(" ");

/** Whether what is drawn from are other logits than the model's own. */
export const changesLogits = ({
  perturbed,
  adjusted,
  penalised,
}: Pick<Choosing, "perturbed" | "adjusted" | "penalised">): boolean =>
  perturbed.length > 0 || adjusted || marksOf(penalised).length > 0;

const float = (rank: number) => ({ dtype: "float" as const, rank });
const int = (rank: number) => ({ dtype: "int" as const, rank });

/**
 * Feeds all lanes share: `beta` of the perturbation; `table` `[rows, vocabulary]` of adjustments; `candidates`, how many
 * are sorted; `topP`, the nucleus as a share of the mass (2: all); `logMinP`; the strengths of penalties.
 */
export const settingFeeds = ({
  top,
  floor,
  perturbed,
  adjusted,
  penalised,
}: Choosing): ProgramSpec["feeds"] => ({
  ...(perturbed.length > 0 ? { beta: float(0) } : {}),
  ...(top === "none" ? {} : { candidates: int(0), topP: float(0) }),
  ...(floor ? { logMinP: float(0) } : {}),
  ...(adjusted ? { table: float(2) } : {}),
  ...penaltyFeeds(penalised),
});

/** First index whose cumulative weight exceeds uniform · total; and the total. */
function draw<T>(ops: Ops<T>, vocabulary: number, weights: T, uniform: T): { token: T; total: T } {
  const cumulative = ops.cumsum(weights);
  const [, total] = ops.split(cumulative, [vocabulary - 1, 1], 1);
  return { token: ops.countUpTo(cumulative, ops.mul(uniform, total!)), total: total! };
}

/**
 * 1 for tokens of the nucleus among the `candidates` likeliest: a token stays while the mass in front of it is short of
 * `topP` of the whole (Holtzman et al., 2020). `missing` is the mass that the candidates lack, positive where the
 * nucleus goes on after them.
 */
function nucleus<T>(
  ops: Ops<T>,
  top: "count" | "mass",
  logits: T,
  weights: T,
  temper: (values: T) => T,
  given: Named<T>,
): { keep: T; missing: T } {
  const [values, ids] = ops.topK(logits, ops.dim(take(given, "candidates")));
  const candidates = ops.exp(temper(values));
  const covered = ops.sum(candidates);
  const bound = ops.mul(top === "count" ? covered : ops.sum(weights), take(given, "topP"));
  const last = ops.lastBelow(ops.cumsum(candidates, true), bound);
  const at = (rows: T): T => ops.reshape(ops.pick(rows, last), [-1, 1]);
  return {
    keep: ops.keepFrom(logits, at(values), at(ops.toFloat(ids))),
    missing: ops.reshape(ops.sub(bound, covered), [-1]),
  };
}

/**
 * Field after field, `[fields · lanes]`: token, logp at T = 1 unfiltered, logp of what was drawn from (of no meaning when
 * greedy), entropy at T = 1, and where candidates were sorted the mass they miss (not positive: the choice is exact).
 */
export function choose<T>(
  ops: Ops<T>,
  vocabulary: number,
  choosing: Choosing,
  logits: T,
  given: Named<T>,
): T {
  const { draw: how, top, floor, perturbed, adjusted, penalised } = choosing;
  const flat = (x: T): T => ops.reshape(x, [-1]);
  const [uniform, inverse] = ops
    .split(take(given, "floats"), [1, 1], 0)
    .map((row) => ops.reshape(row, [-1, 1]));
  const unit = exponentials(ops, logits);
  const fieldsOf = (token: T, sampled?: T, missing?: T): T => {
    const logp = ops.sub(ops.pick(unit.z, token), flat(unit.logS));
    const fields = [ops.toFloat(token), logp, sampled ?? logp, flat(entropy(ops, unit))];
    return ops.concat(missing === undefined ? fields : [...fields, missing], 0);
  };
  const moved =
    perturbed.length > 0
      ? ops.add(logits, ops.mul(take(given, "perturbation"), take(given, "beta")))
      : logits;
  const added = adjusted
    ? ops.add(moved, ops.gather(take(given, "table"), take(given, "adjustment")))
    : moved;
  const finalLogits = penalise(ops, vocabulary, penalised, added, given);
  const changed = changesLogits(choosing);
  if (how === "greedy") return fieldsOf(ops.argmax(finalLogits));
  if (how === "unit") return fieldsOf(draw(ops, vocabulary, unit.e, uniform!).token);
  const most = changed ? ops.max(finalLogits) : unit.max;
  const temper = (values: T): T => ops.mul(ops.sub(values, most), inverse!);
  const z = changed ? temper(finalLogits) : ops.mul(unit.z, inverse!);
  const e = ops.exp(z);
  const sorted = top === "none" ? undefined : nucleus(ops, top, finalLogits, e, temper, given);
  let weights = sorted === undefined ? e : ops.mul(e, sorted.keep);
  if (floor) weights = ops.mul(weights, ops.atLeast(z, take(given, "logMinP")));
  const { token, total } = draw(ops, vocabulary, weights, uniform!);
  return fieldsOf(token, ops.sub(ops.pick(z, token), flat(ops.log(total))), sorted?.missing);
}

/** The same for lanes `rows` of logits that a decoding step returned: where too few candidates were sorted. */
export const chooseSpec = (vocabulary: number, choosing: Choosing): ProgramSpec => ({
  name: "choose",
  feeds: {
    logits: float(2),
    rows: int(1),
    floats: float(2),
    ...settingFeeds(choosing),
    ...(choosing.perturbed.length > 0 ? { perturbation: float(2) } : {}),
    ...(choosing.adjusted ? { adjustment: int(1) } : {}),
    ...markFeeds(choosing.penalised),
  },
  crossing: ["floats", "chosen"],
  build(ops, feeds) {
    const rows = take(feeds, "rows");
    const marks = marksOf(choosing.penalised).map((name) => {
      const lanes = ops.reshape(take(feeds, name), [-1, vocabulary]);
      return [name, ops.gather(lanes, rows)] as const;
    });
    const perturbation = feeds["perturbation"];
    const given = {
      ...feeds,
      ...Object.fromEntries(marks),
      ...(perturbation !== undefined && { perturbation: ops.gather(perturbation, rows) }),
    };
    const logits = ops.gather(take(feeds, "logits"), rows);
    return { chosen: choose(ops, vocabulary, choosing, logits, given) };
  },
});
