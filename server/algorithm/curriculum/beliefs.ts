/** What is known of the arms, as samplers see it: what is believed, how much was seen and drawn, which are alike. */
import { Alike } from "../../core/arms/classes.ts";
import { Column } from "../../core/arms/column.ts";
import type {
  Admission,
  ArmSet,
  Division,
  Estimator,
  Known,
  Sampler,
  Signal,
  Reading,
} from "../../core/slots/curriculum.ts";
import type { Clock, Saved } from "../../core/basics.ts";

/** The curriculum's parts that say something of an arm. */
export interface Believers {
  readonly division: Division;
  readonly signal: Signal;
  readonly estimator: Estimator;
  readonly sampler: Sampler;
  readonly admission: Admission;
}

const sum = (values: ArrayLike<number>): number => {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i]!;
  return total;
};

export class Beliefs {
  /** How much was seen and drawn, by arm and in all. */
  private readonly seen = new Column(0);
  private readonly drawn = new Column(0);
  private totals = { seen: 0, drawn: 0 };
  /** The arms by what the sampler tells them apart by; undefined: it looks at each. */
  private readonly alike: Alike | undefined;
  /** Arms that have changed since a sampler asked; undefined: each may have. */
  private news: Set<number> | undefined;

  constructor(private readonly parts: Believers) {
    const { estimator, sampler } = parts;
    const { reads } = sampler;
    if (parts.division.once !== true || reads === undefined) return;
    const readings = reads.map((reading) => this.readingsOf(reading));
    // What stands in the order as it is compared need not be asked for again.
    const bare = estimator.alike === undefined && sampler.rank === undefined;
    const value = bare && reads.includes("value") ? readings.slice(0, reads.indexOf("value")) : undefined;
    this.alike = new Alike(readings.flat(), value?.flat().length);
  }

  /** Numbers of an arm that make up what a sampler reads of it. */
  private readingsOf(reading: Reading): ((arm: number) => number)[] {
    const { division, estimator, sampler } = this.parts;
    switch (reading) {
      case "value":
      case "spread": {
        if (estimator.alike !== undefined) return estimator.alike.map((column) => (arm) => column.get(arm));
        if (reading === "spread") return [(arm) => estimator.spread?.(arm) ?? Number.NaN];
        return [(arm) => sampler.rank?.(this.scored(arm)) ?? this.scored(arm)];
      }
      case "seen":
        return [(arm) => this.seen.get(arm)];
      case "drawn":
        return [(arm) => this.drawn.get(arm)];
      case "prior":
        return [(arm) => division.kind?.(arm) ?? arm];
      case "own":
        return [(arm) => sampler.own?.(arm) ?? 0];
    }
  }

  /** What a sampler compares of an arm. */
  private scored(arm: number, estimate = this.parts.estimator.estimate(arm)): number {
    return this.parts.signal.score?.(estimate) ?? estimate;
  }

  private get arms(): ArmSet {
    return this.parts.division.arms;
  }

  /**
   * What samplers see of the arms.
   * @param closed those that may not be drawn now
   */
  known(clock: Clock, closed: ReadonlySet<number> = new Set()): Known {
    const { arms, alike } = this;
    const { division, estimator, admission } = this.parts;
    const { size } = arms;
    const only = admission.left?.();
    let value: Float64Array | undefined;
    const scored = (arm: number): number => this.scored(arm);
    return {
      arms,
      size,
      /** Made when somebody asks for all of it. */
      get value() {
        return (value ??= Float64Array.from({ length: size }, (_, arm) => scored(arm)));
      },
      scored,
      seen: this.seen.view(size),
      drawn: this.drawn.view(size),
      totals: this.totals,
      once: division.once ?? false,
      open: (arm) => !closed.has(arm) && (only?.has(arm) ?? true),
      prior: (arm) => division.prior(arm, clock),
      estimate: (arm) => estimator.estimate(arm),
      ...(only === undefined ? {} : { only }),
      ...(alike === undefined ? {} : { classes: () => alike.classes(size, closed, only) }),
      ...this.told(closed, only),
      ...this.ranked(size, closed, only),
      ...this.special(),
    };
  }

  /** For samplers that keep an order of their own. */
  private told(
    closed: ReadonlySet<number>,
    only: ReadonlySet<number> | undefined,
  ): Pick<Known, "changed" | "closed"> {
    if (this.alike === undefined || this.parts.estimator.alike !== undefined || only !== undefined) return {};
    return {
      closed,
      changed: () => {
        const news = this.news ?? "all";
        this.news = new Set();
        return news;
      },
    };
  }

  /** Where all beliefs change at once, arms stand in the order of what they were made of. */
  private ranked(
    size: number,
    closed: ReadonlySet<number>,
    only: ReadonlySet<number> | undefined,
  ): Pick<Known, "inOrder"> {
    const { alike, parts } = this;
    return alike === undefined || parts.sampler.rank === undefined || parts.estimator.alike !== undefined
      ? {}
      : { inOrder: () => alike.inOrder(size, closed, only) };
  }

  /** What only some estimators and divisions can tell. */
  private special(): Pick<Known, "spread" | "present" | "posterior" | "shapes" | "box" | "place"> {
    const { division, estimator } = this.parts;
    return {
      ...(estimator.spread === undefined ? {} : { spread: estimator.spread.bind(estimator) }),
      ...(estimator.present === undefined
        ? {}
        : {
            present: (arm) => {
              const now = estimator.present?.(arm);
              return now === undefined ? undefined : this.scored(arm, now);
            },
          }),
      ...(estimator.posterior === undefined ? {} : { posterior: estimator.posterior.bind(estimator) }),
      ...(estimator.shapes === undefined ? {} : { shapes: estimator.shapes.bind(estimator) }),
      ...(division.box === undefined ? {} : { box: division.box }),
      ...(division.place === undefined ? {} : { place: division.place.bind(division) }),
    };
  }

  /** More rollouts and groups of an arm; −1: of none that there is. */
  count(arm: number, rollouts: number, groups: number): void {
    if (arm < 0) return;
    this.seen.add(arm, rollouts);
    this.drawn.add(arm, groups);
    this.totals = { seen: this.totals.seen + rollouts, drawn: this.totals.drawn + groups };
  }

  /** The estimator believes otherwise of some arms, or may. */
  changed(arms: readonly number[] | "all"): void {
    if (arms === "all") {
      this.news = undefined;
      if (this.parts.estimator.alike === undefined) this.alike?.reset();
      else this.alike?.renew();
      return;
    }
    this.alike?.touch(arms);
    if (this.news !== undefined) for (const arm of arms) if (arm >= 0) this.news.add(arm);
  }

  /** Arrays are as they stand, not copies. */
  save(): Saved {
    return { json: null, arrays: { rollouts: this.seen.save(), groups: this.drawn.save() } };
  }
  /** Forgets which arms were alike: the other parts are loaded too. */
  load({ arrays }: Saved): void {
    this.seen.load(arrays?.["rollouts"]);
    this.drawn.load(arrays?.["groups"]);
    this.totals = { seen: sum(this.seen.save()), drawn: sum(this.drawn.save()) };
    this.alike?.reset();
    this.news = undefined;
  }
}
