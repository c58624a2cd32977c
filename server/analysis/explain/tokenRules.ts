/** Which tokens of a rollout do not train as the others do, and by which rule. */
import type { Span, TokenFacts, TokenRule } from "../../../shared/rollouts/why.ts";
import { origin, type Batch } from "../../core/rollouts.ts";
import { spansOf } from "../../core/rows/tokenSpans.ts";
import type { RecordedStep } from "./recordedStep.ts";
import { effectOf, textOf } from "./ruleWords.ts";

const sizeOf = (spans: readonly Span[]): number => spans.reduce((sum, [from, to]) => sum + to - from, 0);

const ruleOf = (rule: string, effect: TokenRule["effect"], spans: readonly Span[]): TokenRule[] =>
  spans.length === 0 ? [] : [{ rule, effect, text: textOf(rule), count: sizeOf(spans), spans }];

interface WeightedRow {
  readonly step: RecordedStep;
  readonly row: number;
  /** Of the whole step, per token: mask × token weighting. */
  readonly weights: Float64Array;
  /** Per token: 1 where the row has an advantage. */
  readonly exists: Uint8Array;
}

/** @param touched by rule, per token of the step; undefined: the update is not known */
export function tokenFacts(
  where: WeightedRow,
  touched: Readonly<Record<string, Uint8Array>> | undefined,
): TokenFacts {
  const { step, row, weights } = where;
  const [start, end] = [step.batch.offsets[row]!, step.batch.offsets[row + 1]!];
  const recorded = step.rows[row]!.touched;
  const acted =
    touched === undefined
      ? Object.entries(recorded ?? {})
      : Object.entries(touched).map(([rule, column]): [string, readonly Span[]] => [
          rule,
          spansOf(start, end, (i) => column[i] === 1),
        ]);
  return {
    total: end - start,
    trained: sizeOf(spansOf(start, end, (i) => weights[i] !== 0)),
    rules: [
      ...maskRules(where, start, end),
      ...weightRules(where, start, end),
      ...acted.flatMap(([rule, spans]) => ruleOf(rule, effectOf(rule), spans)),
    ],
    clips: touched !== undefined ? "computed" : recorded !== undefined ? "recorded" : "unknown",
  };
}

/** Each masked token under the first rule that took it out. */
function maskRules({ step, exists }: WeightedRow, start: number, end: number): TokenRule[] {
  const { unmasked, batch } = step;
  const taken = new Uint8Array(batch.tokens.length);
  const take = (rule: string, holds: (i: number) => boolean): TokenRule[] => {
    const spans = spansOf(start, end, (i) => batch.mask[i] !== 1 && taken[i] === 0 && holds(i));
    for (const [from, to] of spans) taken.fill(1, start + from, start + to);
    return ruleOf(rule, "masked", spans);
  };
  const rules = [
    ...take("observed", (i) => batch.origin[i] === origin.observed),
    ...take("given", (i) => batch.origin[i] === origin.given),
  ];
  // From a mask of ones: a run records what was left of it, which hides who took the rest.
  const ones: Batch = { ...unmasked, mask: new Uint8Array(unmasked.mask.length).fill(1) };
  for (const [rule, column] of Object.entries(step.algorithm.maskedBy(ones)))
    rules.push(...take(rule, (i) => column[i] === 1));
  rules.push(...take("recorded_mask", () => true));
  const none = spansOf(start, end, (i) => batch.mask[i] === 1 && exists[i] !== 1);
  return [...rules, ...ruleOf("no_advantage", "masked", none)];
}

function weightRules({ step, weights, exists }: WeightedRow, start: number, end: number): TokenRule[] {
  const list = step.body.advantage.token_weights;
  const trains = (i: number): boolean => step.batch.mask[i] === 1 && exists[i] === 1;
  // 0 is no weight: a route has taken the rollout out of training, which its own rule says.
  const spans = spansOf(start, end, (i) => trains(i) && weights[i] !== 1 && weights[i] !== 0);
  if (spans.length === 0) return [];
  const rule = list.map(({ declaration }) => declaration.name).join(", ") || "token_weights";
  // A weight of nothing counts as a very small one, so that normalisers count its token.
  const values = spans.flatMap(([from, to]) =>
    [...weights.subarray(start + from, start + to)].map((value) => (value < 1e-20 ? 0 : value)),
  );
  const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => Number(value.toPrecision(3)));
  const text = low === high ? `weighs ${low}` : `weighs between ${low} and ${high}`;
  return [{ rule, effect: "weighted", text, count: sizeOf(spans), spans }];
}
