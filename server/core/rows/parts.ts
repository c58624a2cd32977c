/** Episodes of several rows. */
import { isEarlierPart, type Batch } from "../rollouts.ts";

/** Rows of one episode have the same. */
const episodeOf = ({ group, records }: Pick<Batch, "group" | "records">, row: number): string =>
  `${group[row]} ${records[row]!.index}`;

/** Per row, the one that stands for its episode: the last; −1 where the batch lacks it, itself for a rollout of one row. */
export function lastParts(batch: Pick<Batch, "group" | "records">): Int32Array {
  const lasts = new Map(
    batch.records.flatMap((record, row) =>
      record.part === undefined || isEarlierPart(record) ? [] : [[episodeOf(batch, row), row]],
    ),
  );
  return Int32Array.from(batch.records, (record, row) =>
    isEarlierPart(record) ? (lasts.get(episodeOf(batch, row)) ?? -1) : row,
  );
}

/** Rows by episode, in the order in which they appear; a rollout of one row is alone. */
export function rowsOfEpisodes(batch: Pick<Batch, "group" | "records">): number[][] {
  const episodes = new Map<string | number, number[]>();
  batch.records.forEach(({ part }, row) => {
    const name = part === undefined ? row : episodeOf(batch, row);
    const known = episodes.get(name);
    if (known === undefined) episodes.set(name, [row]);
    else known.push(row);
  });
  return [...episodes.values()];
}
