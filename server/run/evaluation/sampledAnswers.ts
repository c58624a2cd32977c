/** The sampled answers of an evaluation, by task: what selectors choose from, and what another model may score. */
import type { SampledAnswer } from "../../analysis/evaluation/selectors/answer.ts";
import { outcome, rowValue } from "../../algorithm/rewards/rewards.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { TextPattern } from "../../lib/texts/textPattern.ts";
import { extracted } from "../../methods/generation/pattern.ts";
import { meanLogp } from "./meanLogp.ts";
import type { Answered } from "./evaluate.ts";

export class SampledAnswers {
  readonly batches: Batch[] = [];
  private readonly tasks = new Map<number, SampledAnswer[]>();

  /**
   * @param pattern its first group, else its match, is what a response comes to
   * @param keep whether another model is to score the answers: then their tokens stay in memory
   */
  constructor(
    private readonly pattern: TextPattern,
    private readonly keep: boolean,
  ) {}

  readonly take = (answered: Answered): void => {
    if (answered.greedy) return;
    const { batch, scored, task } = answered;
    if (this.keep) this.batches.push(batch);
    task.forEach((place, row) => {
      const success = scored.success[row];
      if (success === outcome.unknown) return;
      const known = this.tasks.get(place) ?? [];
      this.tasks.set(place, known);
      const response = batch.records[row]!.response;
      known.push({
        response,
        answer: extracted(response, this.pattern),
        right: success === outcome.right,
        mean_logp: meanLogp(batch, batch.columns.logp_old, row),
        terms: termsOf(answered, row),
      });
    });
  };

  /** Those that could be scored. */
  get byTask(): readonly (readonly SampledAnswer[])[] {
    return [...this.tasks].toSorted(([one], [other]) => one - other).map(([, answers]) => answers);
  }
}

const termsOf = ({ scored }: Answered, row: number): Record<string, number> =>
  Object.fromEntries(
    scored.rewards.terms
      .map((term) => [term.name, rowValue(term, row)] as const)
      .filter(([, value]) => Number.isFinite(value)),
  );
