/** Rollouts for a person to label, drawn over the scores that a reward term gave them. */
import type { ParamsOf, ResultOf, judgeDraw } from "../../../shared/protocol/protocol.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { drawForLabels } from "../../analysis/judge/draw.ts";
import { randomStream } from "../../lib/random.ts";
import { rows, type Statements } from "../drivers/statements.ts";
import type { RecordQueries } from "./recordQueries.ts";
import { effective, type RunQueries } from "./runQueries.ts";
import { boundsOf, isWhole } from "./steps.ts";
import { LostSteps, type UnreadRollouts } from "./unreadRollouts.ts";

interface Candidate {
  readonly id: number;
  readonly step: number;
  readonly name: string;
  readonly idx: number;
  readonly score: number;
}

export class JudgeQueries {
  constructor(
    private readonly statements: Statements,
    private readonly runs: RunQueries,
    private readonly records: RecordQueries,
    private readonly unread: UnreadRollouts,
  ) {}

  draw({ run, term, count, seed, known, ...part }: ParamsOf<typeof judgeDraw>): ResultOf<typeof judgeDraw> {
    this.runs.existing(run);
    const lost = new LostSteps();
    while (this.unread.next(run, part, lost));
    const candidates = this.candidates(run, term, part);
    if (candidates.length === 0)
      throw new UserError(`No rollout of this run has a score of \`${term}\`.`, {
        code: "judge-none",
        action: "Name a reward term that gives a rollout one number: `gradus rollouts RUN` shows them.",
      });
    const labelled = new Set(known.map(({ step, group, index }) => keyOf(step, group, index)));
    const drawn = drawForLabels(
      Float64Array.from(candidates, ({ score }) => score),
      count,
      randomStream(seed, "judge-labels", term),
      (at) => labelled.has(keyOf(candidates[at]!.step, candidates[at]!.name, candidates[at]!.idx)),
    );
    return {
      candidates: candidates.length,
      drawn: drawn.flatMap(({ at, weight }) => {
        const { id, score } = candidates[at]!;
        return this.records.rolloutsOf(run, [id]).map((row) => ({ row, score, weight }));
      }),
    };
  }

  private candidates(
    run: string,
    term: string,
    part: Pick<ParamsOf<typeof judgeDraw>, "step" | "from" | "to">,
  ): readonly Candidate[] {
    const path = `$.rewards.${JSON.stringify(term)}`;
    // Only a plain number is a score: "NaN" is stored as a text, and values per token as an object.
    return rows<Candidate>(
      this.statements
        .once(
          `SELECT r.id, r.step, r.name, r.idx, json_extract(r.terms, ?) AS score FROM rollout r ${effective} WHERE r.run = ? AND coalesce(r.use, 'train') = 'train' AND json_type(r.terms, ?) IN ('integer', 'real')${isWhole(part) ? "" : " AND r.step BETWEEN ? AND ?"} ORDER BY r.attempt, r.step, r.ordinal`,
        )
        .all(path, run, path, ...(isWhole(part) ? [] : boundsOf(part))),
    );
  }
}

const keyOf = (step: number, group: string, index: number): string => `${step} ${index} ${group}`;
