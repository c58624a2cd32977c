/** Steps and named spans of what was written, as the config finds them in the text: part of the rollouts from then on. */
import type { Algorithm } from "../../../algorithm/algorithm.ts";
import type { StageBody } from "../../../core/config/resolved.ts";
import type { SpanRules, StepEnd } from "../../../core/blocks/rollout.ts";
import type { Batch, RolloutRecord } from "../../../core/rollouts.ts";
import type { Tokenizer } from "../../../core/policy.ts";
import { endsIn, matchesIn, sectionsIn, type Range } from "../../../lib/textSpans.ts";
import { TextPattern } from "../../../lib/texts/textPattern.ts";
import { TokenReader, tokensOf, type TokenTexts } from "../../../core/rows/tokenTexts.ts";
import type { StepContext } from "../context.ts";
import { endsOf } from "../../../core/rows/ends.ts";

/** The rollouts with steps and spans, where the config or the advantage says how a response is divided. */
export function divided(
  batch: Batch,
  { steps, spans }: StageBody["rollout"],
  algorithm: Pick<Algorithm, "needs">,
  tokenizer: Tokenizer,
): Batch {
  const end = steps ?? algorithm.needs().branches?.split;
  if (end === undefined && spans === undefined) return batch;
  return divide(batch, tokenizer, end, spans);
}

/** The same of a step's rollouts. */
export const dividedIn = ({ session, stage }: Pick<StepContext, "session" | "stage">, batch: Batch): Batch =>
  divided(batch, stage.config.body.rollout, stage.algorithm, session.policy.tokenizer);

/** Steps and spans that a record has already stay. */
export function divide(
  batch: Batch,
  tokenizer: Tokenizer,
  end: StepEnd | undefined,
  spans: SpanRules = {},
): Batch {
  const reader = new TokenReader(tokenizer, "rollout.steps");
  const stepEnd = typeof end === "object" ? new TextPattern(end.regex) : end;
  const rules = Object.entries(spans).map(([name, rule]) => [name, finder(rule)] as const);
  const ends = endsOf(tokenizer);
  const records = batch.records.map((record, row): RolloutRecord => {
    const ended = ends.includes(batch.tokens[batch.offsets[row + 1]! - 1] ?? -1);
    const texts = reader.row(batch, row);
    const own = rules.map(([name, find]) => [
      name,
      find(texts.text).map(([from, to]) => tokensOf(texts, from, to)),
    ]);
    return {
      ...record,
      ...(stepEnd === undefined ? {} : { steps: record.steps ?? stepsOf(texts, stepEnd, ended) }),
      ...(rules.length === 0 ? {} : { spans: { ...Object.fromEntries(own), ...record.spans } }),
    };
  });
  return { ...batch, records };
}

function finder(rule: SpanRules[string]): (text: string) => Range[] {
  if ("open" in rule) return (text) => sectionsIn(text, rule).filter(([from, to]) => from < to);
  const pattern = new TextPattern(rule.regex, rule.flags);
  return (text) => matchesIn(text, pattern);
}

/**
 * Steps of a row, all of it. A token that spans two is of the first, and an end token begins none.
 * @param ended the last token is an end token
 */
function stepsOf(
  { text, starts }: TokenTexts,
  end: string | TextPattern,
  ended: boolean,
): (readonly [number, number])[] {
  const tokens = starts.length - 1;
  const last = ended ? tokens - 1 : tokens;
  const begins = [0];
  for (const at of endsIn(text, end)) {
    const token = starts.findIndex((start) => start >= at);
    if (token > begins.at(-1)! && token < last) begins.push(token);
  }
  return begins.map((begin, k) => [begin, begins[k + 1] ?? tokens] as const);
}
