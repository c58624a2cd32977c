/** What rewards found in responses: spans of characters become spans of tokens, part of the rollouts from then on. */
import type { TextSpans } from "../../../core/slots/reward.ts";
import type { Batch, RolloutRecord } from "../../../core/rollouts.ts";
import type { Tokenizer } from "../../../core/policy.ts";
import type { RewardColumn } from "../../../core/reward.ts";
import { TokenReader, tokensOf, type Span, type TokenTexts } from "../../../core/rows/tokenTexts.ts";

/** The rollouts with the spans that their terms report, in addition to those that they have; the batch itself where there are none. */
export function withRewardSpans(
  batch: Batch,
  columns: readonly RewardColumn[],
  tokenizer: Tokenizer | undefined,
): Batch {
  const telling = columns.flatMap(({ spans }) => spans ?? []);
  if (telling.length === 0) return batch;
  const reader = new TokenReader(tokenizer, "a reward's spans");
  const records = [...batch.records];
  for (const spans of telling)
    for (const [row, found] of spans) records[row] = marked(records[row]!, found, reader.row(batch, row));
  return { ...batch, records };
}

function marked(record: RolloutRecord, found: TextSpans, texts: TokenTexts): RolloutRecord {
  const spans: Record<string, readonly Span[]> = { ...record.spans };
  for (const [name, ranges] of Object.entries(found)) {
    const own = ranges.map(([from, to]) => tokensOf(texts, from, to)).filter(([from, to]) => from < to);
    spans[name] = [...(spans[name] ?? []), ...own];
  }
  return { ...record, spans };
}
