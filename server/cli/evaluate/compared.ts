/** The other model's part, and the difference. */
import type { MeasuredBoundary } from "../../../shared/run/boundaryReport.ts";
import { differences, type Difference } from "../../analysis/evaluation/compare.ts";
import { gains, type Gains } from "../../analysis/evaluation/gains.ts";
import { measuredBoundary } from "../../analysis/evaluation/measuredBoundary.ts";
import { normalised } from "../../analysis/evaluation/normalised.ts";
import { perplexities, type Perplexities } from "../../analysis/evaluation/perplexity.ts";
import { posterior, type Posterior } from "../../analysis/evaluation/posterior.ts";
import { reversedArms, type ReversedArm } from "../../analysis/evaluation/reversedArms.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { randomStream } from "../../lib/random.ts";
import { measure, type Asked, type Measured, type Report } from "./measure.ts";

export interface Compared extends Report {
  readonly difference: Readonly<Record<string, Difference>>;
  readonly gains?: Gains;
  /** What the own model solves and the other does not, and the other way round. */
  readonly boundary?: MeasuredBoundary;
  readonly perplexity: Perplexities;
  readonly posterior?: Posterior;
  readonly reversed_arms: readonly ReversedArm[];
  /** Between `--random` and the other model. */
  readonly normalised?: Readonly<Record<string, number>>;
}

export interface ComparedAsk extends Asked {
  /** A checkpoint that knows nothing. */
  readonly random?: string;
}

export async function compared(
  own: Measured,
  checkpoint: string,
  config: RunConfig,
  { out: _, random: weak, ...asked }: ComparedAsk,
): Promise<Compared> {
  const other = await measure(checkpoint, config, asked, { score: own.answers.batches });
  const random = randomStream(config.seed, "bootstrap");
  const { pass_at } = config.evaluation;
  const gained = gains(own.tasks, other.tasks, Math.max(...pass_at), random);
  const edge = measuredBoundary(own.results, other.results, random);
  const difference = differences(own.tasks, other.tasks, pass_at, random);
  const better = posterior(own.tasks, other.tasks);
  const least = weak === undefined ? undefined : (await measure(weak, config, asked)).report.metrics;
  return {
    ...other.report,
    difference,
    reversed_arms: reversedArms(difference, `pass@${Math.min(...pass_at)}`),
    ...(better && { posterior: better }),
    ...(least && { normalised: normalised(own.report.metrics, other.report.metrics, least) }),
    ...(gained && { gains: gained }),
    ...(edge && { boundary: edge }),
    perplexity: perplexities(
      own.answers.byTask.flat().map(({ mean_logp }) => mean_logp),
      other.answers.byTask.flat().map(({ mean_logp }) => mean_logp),
      other.scored,
    ),
  };
}
