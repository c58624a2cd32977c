import { writeParquet } from "../../lib/datasets/parquetWriter.ts";

/** Numbers of a rollout that are whole by chance. */
const fractions = /^(reward|weight|advantage|logp|entropy|values|returns)/;

/** Rollouts, or groups, as a Parquet file whose columns have the same types whatever the run. */
export const writeRollouts = (file: string, rows: () => AsyncIterable<object>): Promise<void> =>
  writeParquet(file, rows, (name) => fractions.test(name));
