/** Replays what a recorded run's curriculum drew, measured and predicted into a curriculum. */
import { fromWire } from "../../../shared/rollouts/rollouts.ts";
import type { Arm, Clock } from "../../core/basics.ts";
import type { Group } from "../../core/rollouts.ts";
import type { Division, Estimator, EstimatorExtensions, PilotRollouts } from "../../core/slots/curriculum.ts";
import type { DrawReplay, FastSampler } from "../../core/slots/fastArms.ts";
import type { Beliefs } from "./beliefs.ts";
import { groupOfRecord, type Happening } from "./curriculumRecord.ts";

/** What a curriculum needs and the run did not record. */
export type Missing = "pilots" | "predictions";

type Recorded<Kind extends Happening["kind"]> = Extract<Happening, { kind: Kind }>;

interface Parts {
  readonly division: Division;
  readonly estimator: Estimator & EstimatorExtensions;
  readonly sampler: FastSampler;
  readonly beliefs: Beliefs;
}

/** What it uses of the curriculum. */
interface Owner {
  armNamed(name: Arm): number;
  nextPilots(clock: Clock): PilotRollouts | undefined;
  /** Whether the last pilot rollouts are the sampler's. */
  readonly samplerAsks: boolean;
  observePilots(groups: readonly Group[], clock: Clock): void;
}

export class Recall {
  /** Whether any prediction was recorded. */
  private hasPredictions = false;

  constructor(
    private readonly parts: Parts,
    private readonly owner: Owner,
  ) {}

  take(recorded: readonly Happening[], drawn: () => readonly number[], clock: Clock): Missing | undefined {
    const { model } = this.parts.estimator;
    // In the order of a step: new tasks, pilot rollouts, draws with their predictions.
    for (const one of recorded) if (one.kind === "appeared") this.appeared(one);
    const lacksPilots = this.pilot(recorded, clock);
    for (const one of recorded) {
      if (one.kind === "looked") this.predict(one, clock);
      if (one.kind === "drawn") this.drawn(one);
    }
    if (!recorded.some(({ kind }) => kind === "drawn")) this.takeDraw(drawn().filter((arm) => arm >= 0));
    if (lacksPilots) return "pilots";
    const predicts = model?.predictNew !== undefined || model?.predict !== undefined;
    return predicts && !this.hasPredictions ? "predictions" : undefined;
  }

  private appeared({ tasks }: Recorded<"appeared">): void {
    const { division, estimator } = this.parts;
    division.appear?.(tasks);
    estimator.addArms?.(division.arms);
  }

  /**
   * Gives recorded pilot rollouts to the curriculum, as long as it asks for some.
   * @returns whether the estimator asks for more than were recorded. A sampler can do without: its pilot rollouts only
   * choose between past runs.
   */
  private pilot(recorded: readonly Happening[], clock: Clock): boolean {
    const { owner } = this;
    let pilots = owner.nextPilots(clock);
    for (const one of recorded) {
      if (one.kind !== "tried") continue;
      if (pilots === undefined) break;
      owner.observePilots(one.groups.map(groupOfRecord), clock);
      pilots = owner.nextPilots(clock);
    }
    return pilots !== undefined && !owner.samplerAsks;
  }

  private predict({ arms: names, values, now }: Recorded<"looked">, clock: Clock): void {
    const { division, estimator, beliefs } = this.parts;
    if (estimator.model === undefined) return;
    const found = names
      .map((name, i) => ({ arm: this.owner.armNamed(name), value: fromWire(values[i] ?? null) }))
      .filter(({ arm }) => arm >= 0);
    const arms = found.map(({ arm }) => arm);
    estimator.model.restore({ arms, values: found.map(({ value }) => value), now }, clock);
    this.hasPredictions ||= arms.length > 0;
    if (!now) beliefs.changed(arms.length === division.arms.size ? "all" : arms);
  }

  private drawn({ arms: names, notes }: Recorded<"drawn">): void {
    const arms = names.map((name) => this.owner.armNamed(name));
    const open = arms.flatMap((arm, i) => (arm >= 0 ? [{ arm, note: notes?.[i] ?? null }] : []));
    this.takeDraw(
      open.map(({ arm }) => arm),
      notes && open.map(({ note }) => note),
    );
  }
  private takeDraw(arms: readonly number[], notes?: Parameters<DrawReplay["take"]>[1]): void {
    this.parts.sampler.replay?.take(arms, notes);
    this.parts.beliefs.changed(arms);
  }
}
