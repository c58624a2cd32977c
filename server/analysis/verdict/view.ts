/** What the words of a verdict are made of: a finding, and the run as it stood. */
import type { EvaluationRow } from "../../../shared/protocol/protocol.ts";
import type { Finding } from "./finding.ts";
import type { Moment } from "./moment.ts";
import type { VerdictRecord } from "./record.ts";

export interface VerdictView {
  readonly finding: Finding;
  readonly moment: Moment;
  readonly record: VerdictRecord;
  /** Held-out results before training, and the last. */
  readonly heldOut: { readonly first: EvaluationRow; readonly last: EvaluationRow } | null;
}
