/** What the critics say of a step's rollouts before anything trains on them. */
import type { Channel, Stats } from "../seams.ts";
import type { Collected, Place } from "./collect.ts";

/** The heads that the advantage reads, scored. A single one is kept with the rollouts as their `values`. */
export async function judged({ session, stage }: Place, collected: Collected): Promise<Collected> {
  const wanted = stage.algorithm.advantageChannels;
  if (wanted.length === 0) return collected;
  const { batch } = collected;
  const columns: [Channel, Float64Array][] = [];
  for (const model of new Set(wanted.map((one) => one.model))) {
    const channels = wanted.filter((one) => one.model === model).map(({ channel }) => channel);
    const stats = await session.models.get("policy").score(batch, { model, channels });
    for (const channel of channels) columns.push([channel, stats[channel]!]);
  }
  const heads: Stats = Object.fromEntries(columns);
  const [only, ...others] = columns;
  const values = others.length === 0 ? only?.[1] : undefined;
  return {
    ...collected,
    heads,
    batch: { ...batch, columns: { ...batch.columns, ...(values && { values }) } },
  };
}
