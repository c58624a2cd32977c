/** A step's rollouts as its run's log has them, ready to be scored again. */
import type { RecordPlace } from "../../../shared/log/recordAt.ts";
import type { RolloutRecordLog } from "../../../shared/log/records.ts";
import { columnsWith, type LogColumn } from "../../../shared/rollouts/columns.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { numbered, offsetsOf, raggedOf } from "../../core/rows/batch.ts";
import type { TaskConfig } from "../../core/config/resolved.ts";
import { RolloutReader } from "../imported/rolloutReader.ts";
import { withData } from "../imported/withData.ts";
import { groupKey, recordOf, rowColumnsOf } from "../recorded.ts";
import { origin, type Batch, type TokenColumns } from "../../core/rollouts.ts";
import type { Stats } from "../../core/policy.ts";

const floatColumns = columnsWith({ per: "token", batch: "column", dtype: "float64", logged: true });

export interface StoredStep {
  readonly step: number;
  readonly rows: readonly RolloutRow[];
  /** What generation recorded, for penalties and for baselines that read a model's values. */
  readonly stats: Stats;
  /** About how many bytes it takes. */
  readonly bytes: number;
  /** The batch before the mask slot; the task sources' names are those of a config. */
  batch(tasks: readonly TaskConfig[]): Batch;
}

/** @param runFolder `runs/<id>` @throws UserError where the log, or a file that it names, has changed */
export function readStep(runFolder: string, step: number, places: readonly RecordPlace[]): StoredStep {
  const log = new RolloutReader(runFolder);
  try {
    return storedStep(
      step,
      places.flatMap((place) => log.rollouts(place)),
    );
  } finally {
    log.close();
  }
}

function storedStep(step: number, records: readonly RolloutRecordLog[]): StoredStep {
  const rows: readonly RolloutRow[] = records.map(({ row }) => row);
  const offsets = offsetsOf(records.map(({ columns }) => columns.tokens?.length ?? 0));
  const joined = new Joined(records, offsets);
  const pieces = piecesOf(rows, joined);
  const [logp, reference, proximal, values] = [
    joined.floats("logp_old"),
    joined.floats("logp_ref"),
    joined.floats("logp_proximal"),
    joined.floats("values"),
  ];
  return {
    step,
    rows,
    stats: {
      ...(logp === undefined ? {} : { logp }),
      ...(reference === undefined ? {} : { "logp:reference": reference }),
      ...(proximal === undefined ? {} : { "logp:proximal": proximal }),
      ...(values === undefined ? {} : { "head:value": values }),
    },
    bytes: joined.size * 40 + rows.reduce((sum, row) => sum + 2 * (row.response?.length ?? 0) + 1_500, 0),
    batch: remembered((tasks) => ({
      ...pieces,
      records: withData(
        rows.map((row) => recordOf(row, tasks)),
        tasks,
      ),
    })),
  };
}

/** Every edit loads the config again; its task sources are nearly always those of the previous edit. */
function remembered(make: (tasks: readonly TaskConfig[]) => Batch): (tasks: readonly TaskConfig[]) => Batch {
  let known: { readonly key: string; readonly batch: Batch } | undefined;
  return (tasks) => {
    const key = JSON.stringify(
      tasks.map(({ name, source }) => [name, source.declaration.name, source.folder, source.params]),
    );
    if (known?.key !== key) known = { key, batch: make(tasks) };
    return known.batch;
  };
}

/** The rows' columns one after another. */
class Joined {
  readonly size: number;

  constructor(
    readonly records: readonly RolloutRecordLog[],
    readonly offsets: Int32Array,
  ) {
    this.size = offsets.at(-1)!;
  }

  /** NaN on rows that lack it; undefined where no row has it. */
  floats(name: LogColumn): Float64Array | undefined {
    if (!this.has(name)) return undefined;
    return this.filled(name, new Float64Array(this.size).fill(Number.NaN));
  }
  bytes(name: LogColumn, otherwise: number): Uint8Array {
    return this.filled(name, new Uint8Array(this.size).fill(otherwise));
  }
  integers(name: LogColumn): Int32Array {
    return this.filled(name, new Int32Array(this.size));
  }
  has(name: LogColumn): boolean {
    return this.records.some(({ columns }) => columns[name] !== undefined);
  }

  private filled<Column extends Float64Array | Uint8Array | Int32Array>(
    name: LogColumn,
    column: Column,
  ): Column {
    this.records.forEach(({ columns }, row) => {
      const own = columns[name];
      if (own !== undefined) column.set(own, this.offsets[row]!);
    });
    return column;
  }
}

function piecesOf(rows: readonly RolloutRow[], joined: Joined): Omit<Batch, "records"> {
  const { offsets, records } = joined;
  const origins = joined.bytes("origin", origin.written);
  const mask = joined.has("mask")
    ? joined.bytes("mask", 1)
    : origins.map((kind) => (kind === origin.written ? 1 : 0));
  return {
    rows: rows.length,
    offsets,
    tokens: joined.integers("tokens"),
    origin: origins,
    mask,
    columns: columnsOf(joined),
    ...rowColumnsOf(rows),
    context: raggedOf(records.map(() => [])),
    ...numbered(rows.map(groupKey)),
    ...pairsOf(rows),
  };
}

function columnsOf(joined: Joined): TokenColumns {
  return Object.fromEntries(
    floatColumns.flatMap((name) => {
      const column = joined.floats(name);
      return column === undefined ? [] : [[name, column]];
    }),
  );
}

function pairsOf(rows: readonly RolloutRow[]): Pick<Batch, "pair"> | Record<string, never> {
  const names = rows.map((row) =>
    row.pair === undefined ? undefined : JSON.stringify([groupKey(row), row.pair]),
  );
  const known = [...new Set(names.filter((name) => name !== undefined))];
  if (known.length === 0) return {};
  return { pair: Int32Array.from(names, (name) => (name === undefined ? -1 : known.indexOf(name))) };
}
