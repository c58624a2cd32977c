/**
 * Every column of a batch of rollouts: batches, replay, the run log (its Python writer included) and the rollout format
 * read this table. Its order is the log's. A new column is one entry here, and its use.
 */

/** One number for each token or for each row; `context`: a list for each row, of the tokens in front of it. */
type Per = "token" | "row" | "context";

/** The array that holds it in memory. The log has a `float64` as float32: the engine computes no more digits. */
type Dtype = "int32" | "uint8" | "float64";

interface ColumnFacts {
  readonly per: Per;
  readonly dtype: Dtype;
  /** `field`: of every batch, by a name of its own; `column`: in `columns` or `rowColumns`, where known; `none`: in no batch. */
  readonly batch: "field" | "column" | "none";
  /** The run log has it: as an array, or as a number in the row's JSON where it is per row. */
  readonly logged: boolean;
  /** A rollout that replay keeps has it. */
  readonly replayed: boolean;
  /** A model scores it, as the channel of that name, before anything trains; replay keeps the first score. */
  readonly scored: boolean;
  readonly meaning: string;
}

/** What most columns are: log-probs and the like, of each token. */
const facts = {
  per: "token",
  dtype: "float64",
  batch: "column",
  logged: true,
  replayed: true,
  scored: false,
} as const;
/** What is compared with them, of the rollouts that trained. */
const compared = { ...facts, batch: "none", replayed: false } as const;

export const columns = {
  tokens: { ...facts, dtype: "int32", batch: "field", meaning: "token id" },
  origin: {
    ...facts,
    dtype: "uint8",
    batch: "field",
    meaning: "0 the policy generated it, 1 it was prefilled, 2 the environment said it",
  },
  mask: { ...facts, dtype: "uint8", batch: "field", meaning: "1 where it trains" },
  versions: { ...facts, dtype: "int32", meaning: "number of the weights that wrote it; -1: none did" },
  logp_old: { ...facts, meaning: "log-prob by the model that generated, at temperature 1, unfiltered" },
  logp_sampled: { ...facts, meaning: "log-prob in the distribution that was drawn from" },
  logp_new: { ...compared, meaning: "log-prob by the weights as they are now" },
  logp_ref: { ...compared, meaning: "log-prob by the reference" },
  logp_proximal: { ...compared, meaning: "log-prob by the weights before the step's updates" },
  entropy: { ...facts, meaning: "entropy of the model that generated, in nats" },
  values: { ...facts, meaning: "value of the state before the token" },
  sum_pi_squared: {
    ...facts,
    scored: true,
    meaning: "sum over the vocabulary of squared probabilities, at temperature 1",
  },
  returns: { ...facts, logged: false, meaning: "what a value loss regresses on" },
  advantages: { ...compared, replayed: true, meaning: "the advantage it trained with" },
  context: {
    ...facts,
    per: "context",
    dtype: "int32",
    batch: "field",
    meaning: "token ids in front of the row when it was generated",
  },
  train_context: {
    ...facts,
    per: "context",
    dtype: "int32",
    batch: "field",
    meaning: "token ids in front of the row when it trains, where others",
  },
  reward_baseline: {
    ...facts,
    per: "row",
    meaning: "reward of a reference answer to the same task, e.g. the greedy one",
  },
  mismatched_log_ratio: {
    ...facts,
    per: "row",
    logged: false,
    replayed: false,
    meaning: "log-ratio to the anchor of another task's response to this prompt, of one update",
  },
} as const satisfies Readonly<Record<string, ColumnFacts>>;

type Table = typeof columns;
export type Column = keyof Table;
/** Names of the columns of which all these facts hold. */
export type ColumnWith<Facts> = Column &
  { [Name in Column]: Table[Name] extends Facts ? Name : never }[Column];

const isColumn = (name: string): name is Column => name in columns;

/** Those names, in the table's order. */
export function columnsWith<const Facts extends Partial<ColumnFacts>>(facts: Facts): ColumnWith<Facts>[] {
  const wanted = Object.entries(facts);
  const holds = (name: Column): name is ColumnWith<Facts> => {
    const own = new Map<string, unknown>(Object.entries(columns[name]));
    return wanted.every(([key, value]) => own.get(key) === value);
  };
  return Object.keys(columns).filter(isColumn).filter(holds);
}

interface Arrays {
  readonly int32: Int32Array;
  readonly uint8: Uint8Array;
  readonly float64: Float64Array;
}
export type ColumnArray<Name extends Column> = Arrays[Table[Name]["dtype"]];

/** Arrays of the run log, in the order in which a record has them. */
export type LogColumn = Exclude<ColumnWith<{ logged: true }>, ColumnWith<{ per: "row" }>>;
const rowColumn: ReadonlySet<string> = new Set(columnsWith({ per: "row" }));
export const logColumns = columnsWith({ logged: true }).filter(
  (name): name is LogColumn => !rowColumn.has(name),
);

/** Lists of the rollout format with an entry for each token. */
export const tokenKeys = columnsWith({ per: "token" });
export type TokenKey = (typeof tokenKeys)[number];
