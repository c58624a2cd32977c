/** Criteria of rollouts as a log has them: their texts once a commit, and of each rollout only what is met. */
import { createHash } from "node:crypto";
import type { Criterion, TermDetails } from "../../../../shared/rollouts/criteria.ts";
import type { CriteriaRecord, RolloutRecordLog } from "../../../../shared/log/records.ts";

const asked = ({ name, text, points, veto }: Criterion): Criterion => ({
  ...(name !== undefined && { name }),
  text,
  points,
  ...(veto === true && { veto }),
});

export class CriteriaOfCommit {
  private readonly recorded = new Set<string>();

  /** The records of a rollout with `details`: criteria that no rollout before it had, then the rollout. */
  records(record: RolloutRecordLog): readonly (CriteriaRecord | RolloutRecordLog)[] {
    const { details, ...row } = record.row;
    if (details === undefined) return [record];
    const entries = Object.entries(details).map(([term, one]) => ({ term, ...this.listed(one) }));
    const fresh = entries.filter(({ id }) => !this.recorded.has(id) && this.recorded.add(id));
    const judged = Object.fromEntries(entries.map(({ term, id, met }) => [term, { of: id, met }]));
    return [
      ...fresh.map(({ id, criteria }): CriteriaRecord => ({
        kind: "criteria",
        step: record.step,
        id,
        criteria,
      })),
      { ...record, row: { ...row, judged } },
    ];
  }

  /** The next commit is complete in itself. */
  clear(): void {
    this.recorded.clear();
  }

  private listed({ criteria: all }: TermDetails): Pick<CriteriaRecord, "id" | "criteria"> & {
    readonly met: readonly (number | null)[];
  } {
    const criteria = all.map(asked);
    const id = createHash("sha256").update(JSON.stringify(criteria)).digest("hex").slice(0, 16);
    return { id, criteria, met: all.map(({ met }) => met) };
  }
}
