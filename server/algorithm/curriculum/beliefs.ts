/** Arm beliefs, as samplers see them: estimates, counts, and which arms are equal. */
import type { Clock, Saved } from "../../core/basics.ts";
import type { ArmColumn, ArmSet } from "../../core/slots/arms.ts";
import type {
  Admission,
  Division,
  Estimator,
  EstimatorExtensions,
  Signal,
} from "../../core/slots/curriculum.ts";
import type { ArmPool, FastSampler, Reading } from "../../core/slots/fastArms.ts";
import { Column } from "../../methods/curriculum/column.ts";
import { ClassedArms } from "../../methods/curriculum/fast/armClasses.ts";

/** The parts that beliefs come from. */
export interface BeliefParts {
  readonly division: Division;
  readonly signal: Signal;
  readonly estimator: Estimator & EstimatorExtensions;
  readonly sampler: FastSampler;
  readonly admission: Admission;
}

const sum = (values: ArrayLike<number>): number => {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i]!;
  return total;
};

/** 1 for each arm that may be drawn. */
function openColumn(size: number, closed: ReadonlySet<number>, only?: ReadonlySet<number>): Uint8Array {
  const open = new Uint8Array(size).fill(only === undefined ? 1 : 0);
  if (only !== undefined) for (const arm of only) open[arm] = 1;
  for (const arm of closed) open[arm] = 0;
  return open;
}

export class Beliefs {
  /** Rollouts observed and groups drawn, by arm and in all. */
  private readonly rollouts = new Column(0);
  private readonly groups = new Column(0);
  private totals = { rollouts: 0, groups: 0 };
  /** The arms in classes of the sampler's rule; undefined: it has none. */
  private readonly classed: ClassedArms | undefined;
  /** Arms that have changed since the sampler asked; undefined: all may have. */
  private changes: Set<number> | undefined;

  constructor(private readonly parts: BeliefParts) {
    const rule = parts.sampler.classes;
    if (parts.division.once !== true || rule === undefined) return;
    const readings = rule.reads.map((reading) => this.readingsOf(reading));
    // Where the sort key is the estimate itself, it need not be computed again.
    const isPlain = this.columns === undefined && rule.rank === undefined;
    const before =
      isPlain && rule.reads.includes("estimate")
        ? readings.slice(0, rule.reads.indexOf("estimate"))
        : undefined;
    this.classed = new ClassedArms(readings.flat(), before?.flat().length);
  }

  /** Where `endStep` may change all estimates: the columns they are functions of, if the estimator names them. */
  private get columns(): readonly ArmColumn[] | undefined {
    const changes = this.parts.estimator.fast?.changes;
    return changes === "observed" ? undefined : changes;
  }

  /** The numbers of an arm that make up a reading. */
  private readingsOf(reading: Reading): ((arm: number) => number)[] {
    const { division, estimator, sampler } = this.parts;
    switch (reading) {
      case "estimate":
      case "spread": {
        if (this.columns !== undefined) return this.columns.map((column) => (arm) => column.get(arm));
        if (reading === "spread") return [(arm) => estimator.posterior?.spread(arm) ?? Number.NaN];
        return [(arm) => sampler.classes?.rank?.(this.scored(arm)) ?? this.scored(arm)];
      }
      case "rollouts":
        return [(arm) => this.rollouts.get(arm)];
      case "groups":
        return [(arm) => this.groups.get(arm)];
      case "prior":
        return [(arm) => division.kind?.(arm) ?? arm];
      case "own":
        return [(arm) => sampler.classes?.own?.(arm) ?? 0];
    }
  }

  /** The signal's score of an estimate. */
  private scored(arm: number, estimate = this.parts.estimator.estimate(arm)): number {
    return this.parts.signal.score?.(estimate) ?? estimate;
  }

  /** As `scored`, of this step's prediction where a model made one; NaN: there is no such arm. */
  latest(arm: number): number {
    return arm < 0 ? Number.NaN : this.scored(arm, this.parts.estimator.model?.current?.(arm));
  }

  private get arms(): ArmSet {
    return this.parts.division.arms;
  }

  /** The arms as samplers see them. @param closed arms that may not be drawn now */
  pool(clock: Clock, closed: ReadonlySet<number> = new Set()): ArmPool {
    const { arms } = this;
    const { division, estimator, admission } = this.parts;
    const { size } = arms;
    const only = admission.left?.();
    const estimate = (arm: number): number => this.scored(arm);
    const prior = (arm: number): number => division.prior(arm, clock);
    let [estimates, priors, open]: [Float64Array?, Float64Array?, Uint8Array?] = [];
    return {
      arms,
      size,
      get estimates() {
        return (estimates ??= Float64Array.from({ length: size }, (_, arm) => estimate(arm)));
      },
      get priors() {
        return (priors ??= Float64Array.from({ length: size }, (_, arm) => prior(arm)));
      },
      get open() {
        return (open ??= openColumn(size, closed, only));
      },
      rollouts: this.rollouts.view(size),
      groups: this.groups.view(size),
      totals: this.totals,
      once: division.once ?? false,
      posterior: estimator.posterior,
      estimate,
      prior,
      isOpen: (arm) => !closed.has(arm) && (only?.has(arm) ?? true),
      only,
      ...this.ofClasses(size, closed, only),
    };
  }

  /** What only pools with classes have. */
  private ofClasses(
    size: number,
    closed: ReadonlySet<number>,
    only: ReadonlySet<number> | undefined,
  ): Pick<ArmPool, "classes" | "inOrder" | "closed" | "changed"> {
    const { classed } = this;
    if (classed === undefined) return {};
    const classes: ArmPool["classes"] = () => classed.classes(size, closed, only);
    if (this.columns !== undefined) return { classes };
    return {
      classes,
      ...(this.parts.sampler.classes?.rank === undefined
        ? {}
        : { inOrder: () => classed.inOrder(size, closed, only) }),
      ...(only === undefined ? { closed, changed: () => this.takeChanges() } : {}),
    };
  }

  private takeChanges(): ReadonlySet<number> | "all" {
    const changes = this.changes ?? "all";
    this.changes = new Set();
    return changes;
  }

  /** Counts rollouts and groups of an arm; −1: there is no such arm. */
  count(arm: number, rollouts: number, groups: number): void {
    if (arm < 0) return;
    this.rollouts.add(arm, rollouts);
    this.groups.add(arm, groups);
    this.totals = { rollouts: this.totals.rollouts + rollouts, groups: this.totals.groups + groups };
  }

  /** Estimates of these arms may have changed. */
  changed(arms: readonly number[] | "all"): void {
    if (arms === "all") {
      this.changes = undefined;
      if (this.columns === undefined) this.classed?.reset();
      else this.classed?.renew();
      return;
    }
    this.classed?.touch(arms);
    if (this.changes !== undefined) for (const arm of arms) if (arm >= 0) this.changes.add(arm);
  }
  /** The estimator has ended its step. */
  endStep(): void {
    const { estimator } = this.parts;
    if (estimator.endStep !== undefined && estimator.fast?.changes !== "observed") this.changed("all");
  }

  /** Arrays are not copied. */
  save(): Saved {
    return { json: null, arrays: { rollouts: this.rollouts.save(), groups: this.groups.save() } };
  }
  /** The classes are rebuilt, since the other parts are loaded too. */
  load({ arrays }: Saved): void {
    this.rollouts.load(arrays?.["rollouts"]);
    this.groups.load(arrays?.["groups"]);
    this.totals = { rollouts: sum(this.rollouts.save()), groups: sum(this.groups.save()) };
    this.classed?.reset();
    this.changes = undefined;
  }
}
