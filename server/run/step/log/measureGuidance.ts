/** What help did in a step. */
import { outcome } from "../../../algorithm/rewards/rewards.ts";
import type { Selected, GuidanceTally } from "../context.ts";
import { mean } from "../../../../shared/lib/mean.ts";

const orNothing = (name: string, value: number): Record<string, number> =>
  Number.isFinite(value) ? { [name]: value } : {};

export function measureGuidance({ batch, scored, guidance }: Selected): Record<string, number> {
  if (guidance.length === 0) return {};
  const sum = (of: (tally: GuidanceTally) => number): number =>
    guidance.reduce((total, tally) => total + of(tally), 0);
  const helped = [...batch.records.keys()].filter((row) => batch.records[row]!.help !== undefined);
  const shares = helped.flatMap((row) => batch.records[row]!.help?.share ?? []);
  return {
    "guidance/groups": sum(({ helped: groups }) => groups) / sum(({ groups }) => groups),
    "guidance/rollouts": helped.length / batch.rows,
    ...orNothing("guidance/share", mean(shares)),
    ...orNothing(
      "guidance/success",
      mean(helped.map((row) => (scored.success[row] === outcome.right ? 1 : 0))),
    ),
    ...orNothing("guidance/plain_success", sum((tally) => tally.plain_successes) / sum(({ plain }) => plain)),
    "guidance/given_tokens": helped.reduce((total, row) => total + (batch.records[row]!.help?.given ?? 0), 0),
    "guidance/extra_tokens": sum(({ extra_tokens }) => extra_tokens),
  };
}
