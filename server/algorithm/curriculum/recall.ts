/** A curriculum in the place of the one that a run had: it is told what that one drew, tried and looked at. */
import { fromWire } from "../../../shared/rollouts.ts";
import type { Arm, Clock } from "../../core/basics.ts";
import type { Group } from "../../core/rollouts.ts";
import type { Probe, Division, Estimator, Sampler } from "../../core/slots/curriculum.ts";
import type { Beliefs } from "./beliefs.ts";
import { groupOfTried, type Happening } from "./journal.ts";

/** What a curriculum needs and nobody has recorded: rollouts that try arms, or what a model shows of prompts. */
export type Lack = "tries" | "looks";

type Told<Kind extends Happening["kind"]> = Extract<Happening, { kind: Kind }>;

interface Parts {
  readonly division: Division;
  readonly estimator: Estimator;
  readonly sampler: Sampler;
  readonly beliefs: Beliefs;
}

/** What of the curriculum itself takes part. */
interface Owner {
  armNamed(name: Arm): number;
  probe(clock: Clock): Probe | undefined;
  /** Whether the last probe is the sampler's. */
  readonly samplerAsks: boolean;
  probed(groups: readonly Group[], clock: Clock): void;
}

export class Recall {
  /** Whether anything was told of what a model shows of prompts. */
  private looked = false;

  constructor(
    private readonly parts: Parts,
    private readonly owner: Owner,
  ) {}

  take(told: readonly Happening[], drawn: () => readonly number[], clock: Clock): Lack | undefined {
    const { estimator } = this.parts;
    // In the order of a run's step: tasks that were made, arms that were tried, draws with what they look at.
    for (const one of told) if (one.kind === "appeared") this.appeared(one);
    const untried = this.tried(told, clock);
    for (const one of told) {
      if (one.kind === "looked") this.look(one, clock);
      if (one.kind === "drawn") this.drawn(one);
    }
    if (!told.some(({ kind }) => kind === "drawn")) this.drew(drawn().filter((arm) => arm >= 0));
    if (untried) return "tries";
    const looks = estimator.survey !== undefined || estimator.foresee !== undefined;
    return looks && !this.looked ? "looks" : undefined;
  }

  private appeared({ tasks }: Told<"appeared">): void {
    const { division, estimator } = this.parts;
    division.appear?.(tasks);
    estimator.grow?.(division.arms);
  }

  /**
   * Answers what the curriculum asks to be tried; what it does not ask for it would not know what to do with.
   * @returns whether the estimator asks for more than was recorded. A sampler that does stays with what it has: its tries
   * choose between past runs.
   */
  private tried(told: readonly Happening[], clock: Clock): boolean {
    const { owner } = this;
    let wish = owner.probe(clock);
    for (const one of told) {
      if (one.kind !== "tried") continue;
      if (wish === undefined) break;
      owner.probed(one.groups.map(groupOfTried), clock);
      wish = owner.probe(clock);
    }
    return wish !== undefined && !owner.samplerAsks;
  }

  private look({ arms: names, values, now }: Told<"looked">, clock: Clock): void {
    const { division, estimator, beliefs } = this.parts;
    if (estimator.recall === undefined) return;
    const seen = names
      .map((name, i) => ({ arm: this.owner.armNamed(name), value: fromWire(values[i] ?? null) }))
      .filter(({ arm }) => arm >= 0);
    const arms = seen.map(({ arm }) => arm);
    estimator.recall({ arms, values: seen.map(({ value }) => value), now }, clock);
    this.looked ||= arms.length > 0;
    if (!now) beliefs.changed(arms.length === division.arms.size ? "all" : arms);
  }

  private drawn({ arms: names, notes }: Told<"drawn">): void {
    const arms = names.map((name) => this.owner.armNamed(name));
    const open = arms.flatMap((arm, i) => (arm >= 0 ? [{ arm, note: notes?.[i] ?? null }] : []));
    this.drew(
      open.map(({ arm }) => arm),
      notes && open.map(({ note }) => note),
    );
  }
  private drew(arms: readonly number[], notes?: Parameters<NonNullable<Sampler["drew"]>>[1]): void {
    this.parts.sampler.drew?.(arms, notes);
    this.parts.beliefs.changed(arms);
  }
}
