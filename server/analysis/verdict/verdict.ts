/** A run's verdict in words, of what is recorded up to a step. Pure; rollouts and what fixes would do are added by its caller. */
import type { Verdict, VerdictBrief, VerdictSpan } from "../../../shared/run/verdict.ts";
import { configuredTerms } from "./facts.ts";
import type { Finding } from "./finding.ts";
import { fixesOf } from "./fixes.ts";
import type { VerdictRecord } from "./record.ts";
import { reliabilityOf } from "./reliability.ts";
import type { FindingSpan, Timeline } from "./timeline.ts";
import type { VerdictView } from "./view.ts";
import { againstOf, detailsOf } from "./words/details.ts";
import { headlineOf, labelOf } from "./words/label.ts";
import { sentence } from "./words/numbers.ts";

const spanOf = ({ finding, from, to }: FindingSpan): VerdictSpan => ({
  state: finding.state,
  label: labelOf(finding),
  since: finding.since,
  from,
  to,
});

export const briefOf = ({ state, label, since, headline }: Verdict): VerdictBrief => ({
  state,
  label,
  since,
  headline,
});

/** Of a run that has ended nothing is awaited. */
const closed = (finding: Finding): Finding =>
  finding.state === "too early" ? { ...finding, state: "cannot tell" } : finding;

/** null before the first training step. */
export function verdictOf(record: VerdictRecord, { moment, spans }: Timeline): Verdict | null {
  const last = spans.at(-1);
  if (last === undefined) return null;
  const finding = record.ended === true ? closed(last.finding) : last.finding;
  const evaluations = record.evaluations.filter(({ step }) => step <= last.to);
  const [first, later] = [evaluations[0], evaluations.at(-1)];
  const heldOut =
    first === undefined || later === undefined || first === later ? null : { first, last: later };
  const view: VerdictView = { finding, moment, record, heldOut };
  return {
    state: finding.state,
    label: labelOf(finding),
    since: finding.since,
    step: last.to,
    headline: sentence(headlineOf(view)),
    details: detailsOf(view),
    against: againstOf(view),
    cause:
      finding.term === null
        ? null
        : {
            term: finding.term,
            key: configuredTerms(record.config).includes(finding.term)
              ? `reward.terms.${finding.term}`
              : null,
            shown: finding.state === "failing",
          },
    rollouts: [],
    fixes: fixesOf(view),
    reliability: reliabilityOf(finding.state),
    timeline: [...spans.slice(0, -1), { ...last, finding }].map(spanOf),
  };
}
