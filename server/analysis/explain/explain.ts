/**
 * What a config makes of recorded rollouts: rewards → advantages → loss with its gradient per token. Runs no reward
 * and no model. All rows of one step form one optimiser step, without a split into mini-batches.
 */
import { UserError } from "../../../shared/lib/errors.ts";
import { toWire, type WireNumber } from "../../../shared/rollouts/rollouts.ts";
import { columnOfAdvantages } from "../../algorithm/advantages/advantageColumns.ts";
import { describeMismatch } from "../../algorithm/advantages/describe.ts";
import { tokensOf, type TokenColumn } from "../../algorithm/advantages/tokenColumn.ts";
import { withReturns, type Advantages } from "../../algorithm/advantages/tokenAdvantages.ts";
import type { Scores } from "../../algorithm/rewards/rewards.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { unmasked } from "../../algorithm/loss/routes.ts";
import { RecordedStep } from "./recordedStep.ts";
import { isTokenless, metricsOfRows } from "./tokenless.ts";
import type { Span } from "../../../shared/rollouts/why.ts";
import { keyOf, recordedChannel } from "./channels.ts";
import type { RecordedRow } from "../recorded.ts";
import type { Saved } from "../../core/basics.ts";
import type { Channel, Stats, Weighed } from "../../core/policy.ts";
import { spansOf } from "../../core/rows/tokenSpans.ts";
import { recordedAdvantages } from "../../algorithm/advantages/tokenAdvantages.ts";
import { groupsOf } from "../../algorithm/rewards/groups.ts";
import { describeStep } from "../../algorithm/advantages/describe.ts";

export interface ExplainedRollout {
  readonly type: "rollout";
  readonly step: number;
  readonly group: string;
  readonly index: number;
  /** Combined reward, before any KL penalty; null where the row has none. */
  readonly reward: WireNumber | null;
  readonly advantages: readonly WireNumber[];
  /** Of a rollout that was recorded without tokens: its advantage as a whole; null where it has none. */
  readonly advantage?: WireNumber | null;
  readonly weights: readonly WireNumber[];
  /** Absent where the rows have no `logp_new`. */
  readonly grad_logp?: readonly WireNumber[];
  /** ∂loss/∂channel of the other channels that the loss reads: `head:value`, `entropy`. */
  readonly gradients?: Readonly<Record<string, readonly WireNumber[]>>;
  /** By rule, the tokens [start, end) that it touched: those that a clip held, and so on. */
  readonly touched?: Readonly<Record<string, readonly Span[]>>;
}
export interface ExplainedStep {
  readonly type: "summary";
  readonly step: number;
  /** Absent where the rows have no `logp_new`; so are the metrics of the update. */
  readonly loss?: WireNumber;
  readonly metrics: Readonly<Record<string, WireNumber>>;
}
export type Explained = ExplainedRollout | ExplainedStep;

interface RowsOfStep {
  readonly train: RecordedRow[];
  /** Rollouts that only tell what a state is worth. */
  readonly estimates: RecordedRow[];
}

/**
 * The rows of each (run, step), in the order in which the steps first appear. What was replayed has advantages of
 * another step: it is left out, unless the config takes recorded advantages as they are (`given`).
 */
export function stepsOf(rows: readonly RecordedRow[], given: boolean): RowsOfStep[] {
  const steps = new Map<string, RowsOfStep>();
  for (const recorded of rows) {
    const { admitted, use = "train", run, step, source } = recorded.row;
    if (admitted === false || use === "evaluate" || (source === "replay" && !given)) continue;
    const key = JSON.stringify([run ?? "", step]);
    const known = steps.get(key) ?? { train: [], estimates: [] };
    steps.set(key, known);
    (use === "train" ? known.train : known.estimates).push(recorded);
  }
  return [...steps.values()].filter(({ train }) => train.length > 0);
}

/** Explains every step of the rows, in order; a baseline that remembers knows the earlier steps of the same run. */
export function* explain(config: RunConfig, rows: readonly RecordedRow[]): Generator<Explained> {
  yield* new Explanation(config).of(rows);
}

/** Rows that come some steps at a time: what earlier ones taught a baseline holds for later ones. */
export class Explanation {
  private readonly given: boolean;
  private readonly remembered = new Map<string, Saved>();

  constructor(private readonly config: RunConfig) {
    this.given = config.stages.some(({ body }) => body.advantage.baseline.declaration.name === "given");
  }

  *of(rows: readonly RecordedRow[]): Generator<Explained> {
    checkTerms(this.config, rows);
    for (const { train, estimates } of stepsOf(rows, this.given)) {
      const step = new RecordedStep(this.config, train, estimates);
      const { use, params } = step.body.advantage.baseline;
      const key = JSON.stringify([train[0]!.row.run ?? "", use, params]);
      const saved = this.remembered.get(key);
      if (saved !== undefined) step.algorithm.load(saved);
      yield* new StepExplainer(step).explain();
      this.remembered.set(key, step.algorithm.save());
    }
  }
}

/** Rows whose rewards are all of other terms than the config's would silently have none. */
export function checkTerms({ stages }: RunConfig, rows: readonly RecordedRow[]): void {
  const wanted = new Set(stages.flatMap(({ body }) => body.reward.terms.map(({ name }) => name)));
  const recorded = new Set(
    rows.flatMap(({ row }) => [...Object.keys(row.rewards ?? {}), ...Object.keys(row.errors ?? {})]),
  );
  const needless = stages.every(({ body }) => body.advantage.baseline.declaration.name === "given");
  if (recorded.size === 0 || needless || [...recorded].some((name) => wanted.has(name))) return;
  const first = rows.find(({ row }) => row.rewards !== undefined)?.place;
  throw new UserError(
    `the rollouts have rewards ${[...recorded].join(", ")}, but the config's terms are ${[...wanted].join(", ") || "none"}`,
    {
      ...first,
      character: 0,
      code: "rollout-terms",
      action:
        "Give the terms the same names, re-score with `gradus reward`, or drop `rewards` so that `reward` is used.",
    },
  );
}

/** Everything that follows from the rows of a step. */
export interface SolvedStep {
  readonly scored: Scores;
  readonly old: Stats;
  readonly advantages: Advantages;
  /** Mask × token weighting, per token; 0 on rows that a route masks or drops. */
  readonly weights: Float64Array;
  /** undefined: the rows have no `logp_new`. */
  readonly weighed: Weighed | undefined;
}

type Objectives = StageBody["objective"];
interface Routed extends Pick<SolvedStep, "advantages" | "scored"> {
  readonly weights: TokenColumn;
  /** Per row, which losses it moves. */
  readonly routes: Uint8Array | undefined;
}

export class StepExplainer {
  constructor(private readonly step: RecordedStep) {}

  /**
   * @param part the rows are some of a group's, whose size is no concern
   * @param loss as far as the rows have what it reads
   * @throws UserError with the row that lacks what the config needs
   */
  solve(part = false, loss = true): SolvedStep {
    if (!part) this.step.checkGroups();
    const { batch, algorithm, clock } = this.step;
    const scored = algorithm.rewards(this.step.terms(), batch, clock);
    const update = loss && this.step.updates();
    const old = this.step.generated(update);
    const advantages = algorithm.takesRecorded
      ? recordedAdvantages(this.step.recordedAdvantages(), batch)
      : this.computed(scored, old);
    const routes = algorithm.routes(batch, scored.success, advantages);
    const every = algorithm.tokenWeights(batch, advantages, old, clock);
    const column = routes === undefined ? every : unmasked(tokensOf(every), batch, routes);
    const weighed = update ? this.weigh(old, { advantages, weights: column, scored, routes }) : undefined;
    return { scored, old, advantages, weights: tokensOf(column), weighed };
  }

  *explain(): Generator<Explained> {
    const { batch, algorithm } = this.step;
    const { scored, advantages, weights, weighed } = this.solve();
    algorithm.observe(scored.combined, batch);
    const groups = groupsOf(batch, scored, advantages);
    const described = {
      ...describeStep(batch, scored, { batch, advantages, weights }, groups),
      "tokens/trained": weights.reduce((sum, weight) => sum + (weight === 0 ? 0 : 1), 0),
    };
    const metrics = isTokenless(batch) ? metricsOfRows(described, batch, advantages) : described;
    const sampled = batch.columns.logp_sampled;
    const mismatch =
      sampled !== undefined && batch.columns.logp_old !== undefined
        ? describeMismatch(sampled, batch.columns.logp_old, weights)
        : {};
    for (let row = 0; row < batch.rows; row++) yield this.rollout(row, scored, advantages, weights, weighed);
    yield {
      type: "summary",
      step: this.step.rows[0]!.step,
      ...(weighed === undefined ? {} : { loss: toWire(weighed.loss) }),
      metrics: wire({
        ...metrics,
        ...mismatch,
        ...(weighed === undefined ? {} : { ...weighed.metrics, "update/loss": weighed.loss }),
      }),
    };
  }

  private rollout(
    row: number,
    { combined }: Scores,
    advantages: Advantages,
    weights: Float64Array,
    weighed: Weighed | undefined,
  ): ExplainedRollout {
    const { step, group, index } = this.step.rows[row]!;
    const [start, end] = [this.step.batch.offsets[row]!, this.step.batch.offsets[row + 1]!];
    const part = (values: Float64Array): WireNumber[] => Array.from(values.subarray(start, end), toWire);
    const total = combined.total[row]!;
    const { logp, ...others } = weighed?.gradients ?? {};
    const rest = Object.entries(others).flatMap(([channel, column]) =>
      column === undefined ? [] : [[channel, part(column)] as const],
    );
    const touched = touchedOf(weighed?.touched, start, end);
    return {
      type: "rollout",
      step,
      group,
      index,
      reward: Number.isNaN(total) || combined.errored[row] === 1 ? null : toWire(total),
      advantages: Array.from(advantages.tokens.subarray(start, end), (value, i) =>
        weights[start + i] === 0 ? 0 : toWire(value),
      ),
      ...(end > start ? {} : { advantage: wireOrNull(advantages.rows[row]!) }),
      weights: part(weights),
      ...(logp === undefined ? {} : { grad_logp: part(logp) }),
      ...(rest.length === 0 ? {} : { gradients: Object.fromEntries(rest) }),
      ...(touched.length === 0 ? {} : { touched: Object.fromEntries(touched) }),
    };
  }

  private computed(scored: Scores, old: Stats): Advantages {
    for (const { place, model, coefficient } of this.step.algorithm.kl) {
      if (place !== "reward" || coefficient(this.step.clock) === 0) continue;
      this.step.checkColumn(old.logp, this.step.batch.mask, "logp_old");
      if (model !== "behaviour")
        this.step.checkColumn(old[`logp:${model}`], this.step.batch.mask, keyOf(`logp:${model}`));
    }
    return this.step.algorithm.advantages(scored.combined, this.step.batch, old, this.step.clock);
  }

  private weigh(old: Stats, { advantages, weights, scored, routes }: Routed): Weighed {
    const { step } = this;
    const { batch, clock, algorithm } = step;
    const trained = Uint8Array.from(tokensOf(weights), (weight) => (weight === 0 ? 0 : 1));
    const { channels, models } = algorithm.needs(clock);
    const now = this.now(channels, trained);
    if (channels.includes("logp") && readsBehaviour(step.body.objective))
      step.checkColumn(old.logp, algorithm.guidedRatio?.withoutHelped(batch, trained) ?? trained, "logp_old");
    for (const model of models)
      if (old[`logp:${model}`] === undefined || algorithm.kl.some((term) => term.model === model))
        step.checkColumn(old[`logp:${model}`], trained, keyOf(`logp:${model}`));
    const update = { old, advantages: columnOfAdvantages(advantages), weights, scored, routes };
    return algorithm.weigh(update, clock)(now, withReturns(batch, advantages));
  }

  /** The channels that the loss reads, as recorded; the entropy also where it is only measured. */
  private now(channels: readonly Channel[], trained: Uint8Array): Stats {
    const { rows, batch } = this.step;
    const columns = channels.map((channel) => {
      const column = recordedChannel(rows, channel, batch.offsets);
      this.step.checkColumn(column, trained, keyOf(channel));
      return [channel, column] as const;
    });
    const { entropy } = batch.columns;
    const measured = entropy?.every((value, i) => trained[i] === 0 || !Number.isNaN(value)) === true;
    return {
      logp: recordedChannel(rows, "logp", batch.offsets) ?? new Float64Array(batch.tokens.length),
      ...(measured ? { entropy } : {}),
      ...Object.fromEntries(columns),
    };
  }
}

/** Whether a loss compares the policy with the weights that wrote: REINFORCE and losses with another anchor do not. */
const readsBehaviour = ({ loss, also, correction }: Objectives): boolean =>
  correction.length > 0 ||
  [loss, ...also.map((one) => one.loss)].some(
    ({ declaration, params }) =>
      declaration.name !== "reinforce" && params["anchor"] !== "reference" && params["anchor"] !== "none",
  );

function touchedOf(
  touched: Weighed["touched"],
  start: number,
  end: number,
): (readonly [string, readonly Span[]])[] {
  return Object.entries(touched ?? {})
    .map(([rule, column]) => [rule, spansOf(start, end, (i) => column[i] === 1)] as const)
    .filter(([, spans]) => spans.length > 0);
}

const wireOrNull = (value: number): WireNumber | null => (Number.isNaN(value) ? null : toWire(value));
const wire = (metrics: Readonly<Record<string, number>>): Record<string, WireNumber> =>
  Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, toWire(value)]));
