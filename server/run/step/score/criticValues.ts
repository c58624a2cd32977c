/** What the advantage reads of models in addition to the rewards, scored before anything trains on the rollouts. */
import { columnsWith } from "../../../../shared/rollouts/columns.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { Channel, Stats } from "../../../core/policy.ts";
import type { Admitted, StepContext, Valued } from "../context.ts";

const scored = columnsWith({ scored: true });
type ScoredColumn = (typeof scored)[number];

/** The channels that the advantage reads, of the models as they are. */
export async function criticColumns({ session, stage, clock }: StepContext, batch: Batch): Promise<Stats> {
  const { scores: wanted } = stage.algorithm.needs(clock);
  const columns: [Channel, Float64Array][] = [];
  for (const model of new Set(wanted.map((one) => one.model))) {
    const channels = wanted.filter((one) => one.model === model).map(({ channel }) => channel);
    const stats = await session.models.get("policy").score(batch, { model, channels });
    for (const channel of channels) columns.push([channel, stats[channel]!]);
  }
  return Object.fromEntries(columns);
}

/** Of some columns those that models score before anything trains. */
export const scoredColumns = (columns: Pick<Stats, ScoredColumn>): Pick<Stats, ScoredColumn> =>
  Object.fromEntries(scored.flatMap((name) => (columns[name] === undefined ? [] : [[name, columns[name]]])));

/** The step's rollouts with them. A single head is kept with the rollouts as their `values`. */
export async function withCriticValues(context: StepContext, admitted: Admitted): Promise<Valued> {
  if (context.stage.algorithm.needs(context.clock).scores.length === 0)
    return { ...admitted, criticValues: {} };
  const { batch } = admitted;
  const criticValues = await criticColumns(context, batch);
  const [only, ...others] = Object.entries(criticValues).filter(([channel]) => channel.startsWith("head:"));
  const values = others.length === 0 ? only?.[1] : undefined;
  return {
    ...admitted,
    criticValues,
    batch: {
      ...batch,
      columns: { ...batch.columns, ...(values && { values }), ...scoredColumns(criticValues) },
    },
  };
}
