/** The curriculum's step: draw → (rollouts) → admit, refill → observe → estimate → draw. */
import type { StageBody } from "../../core/config/resolved.ts";
import { joined, partOf } from "../../core/saved.ts";
import type { ArmSet } from "../../core/slots/arms.ts";
import type {
  Admission,
  Budget,
  CurriculumEvent,
  Division,
  Estimator,
  EstimatorExtensions,
  PilotRollouts,
  Refill,
  SamplerExtensions,
  Signal,
  SourceOf,
  Verdict,
} from "../../core/slots/curriculum.ts";
import type { ArmPool, FastSampler } from "../../core/slots/fastArms.ts";
import { lifted } from "../../methods/curriculum/fast/lifted.ts";
import { randomStream, type Random } from "../../lib/random.ts";
import type { Task } from "../../core/task.ts";
import type { TaskSource } from "../../core/slots/tasks.ts";
import type { Arm, Clock, Saved, Stateful } from "../../core/basics.ts";
import type { Group } from "../../core/rollouts.ts";
import { Beliefs } from "./beliefs.ts";
import { create } from "../../core/create.ts";
import { nonFinite, withoutTasks, type Fault } from "./curriculumFaults.ts";
import { Recall, type Missing } from "./recall.ts";
import { Happenings, recordOf, type Happening } from "./curriculumRecord.ts";
import { Draws, type DrawnTask } from "./draws.ts";
import { changedSince, saveArms, tasksChanged } from "./savedArms.ts";
import { observationsOf } from "./observations.ts";
import type { CreateContext } from "../../core/declaration.ts";

export class Curriculum implements Stateful {
  readonly division: Division;
  readonly admission: Admission;
  private readonly signal: Signal;
  private readonly signalName: string;
  private readonly estimator: Estimator & EstimatorExtensions;
  private readonly sampler: FastSampler;
  private readonly extensions: SamplerExtensions;
  private readonly refill: Refill;
  private readonly budget: Budget;
  /** Of the last observed groups, those whose signal was not finite. */
  private unmeasured: readonly Group[] = [];
  /** Arms that have been reported to have no task left. */
  private readonly reported = new Set<number>();
  private readonly beliefs: Beliefs;
  private readonly draws: Draws;
  private readonly recalling: Recall;
  /** Whether the last pilot rollouts are the sampler's. */
  samplerAsks = false;
  private readonly happenings = new Happenings();
  /** Faults found by loading, until they are reported. */
  private found: readonly Fault[] = [];

  constructor(
    config: StageBody["curriculum"],
    readonly sources: readonly SourceOf[],
    context: CreateContext,
    /** In place of the config's own arms: those of a history. */
    division?: Division,
  ) {
    this.division = division ?? create(config.arms, context)(sources);
    this.signal = create(config.signal, context);
    this.signalName = config.signal.declaration.name;
    this.estimator = create(config.estimator, context);
    const sampler = create(config.sampler, context);
    this.sampler = lifted(sampler);
    this.extensions = sampler;
    this.admission = create(config.admission, context);
    this.refill = create(config.refill, context);
    this.budget = create(config.budget, context);
    this.estimator.addArms?.(this.arms);
    const { signal, estimator, admission } = this;
    const parts = { division: this.division, signal, estimator, sampler: this.sampler, admission };
    this.beliefs = new Beliefs(parts);
    const drawn = { ...parts, budget: this.budget, group: context.group };
    this.draws = new Draws(drawn, this.beliefs, this.happenings);
    this.recalling = new Recall({ ...parts, beliefs: this.beliefs }, this);
  }

  /** All arms. */
  get arms(): ArmSet {
    return this.division.arms;
  }
  /** The name for a task's arm in charts and evaluations. */
  familyOf(task: Task): Arm {
    return this.division.familyOf(task);
  }
  /** Whether no arm can draw the task. */
  isArmless(task: Task): boolean {
    return this.division.armOf(task) < 0;
  }

  // ─────────────────────────────────────────────────────────────── draw

  /**
   * Tasks to roll out. Fewer than `n` only when all arms that may be drawn are exhausted.
   * @param taken arms that the step has drawn already; drawn arms are added
   */
  draw(n: number, random: Random, clock: Clock, taken = new Set<number>()): Promise<DrawnTask[]> {
    return this.draws.draw(n, random, clock, taken);
  }

  /** The arms as samplers see them. */
  pool(clock: Clock): ArmPool {
    return this.beliefs.pool(clock);
  }

  /** The chance of each arm in the next draw. */
  probabilities(clock: Clock): Float64Array {
    return this.sampler.probabilities(this.pool(clock), clock);
  }

  /** How many simulated draws the last `probabilities` counted; 0: they were computed. */
  get simulatedDraws(): number {
    return this.sampler.simulated?.() ?? 0;
  }

  /** The estimate of an arm's signal; NaN: nothing is known yet. */
  estimate(arm: number): number {
    return this.estimator.estimate(arm);
  }

  /** Its standard deviation; NaN: unknown. */
  spread(arm: number): number {
    return this.estimator.posterior?.spread(arm) ?? Number.NaN;
  }

  // ─────────────────────────────────────────────────────────────── before a step, and within it

  /** Pilot rollouts that the estimator or the sampler wants before the next draw. */
  nextPilots(clock: Clock): PilotRollouts | undefined {
    const pilots = this.estimator.pilots?.next(this.arms, clock);
    this.samplerAsks = pilots === undefined;
    return pilots ?? this.samplerPilots(clock);
  }
  private samplerPilots(clock: Clock): PilotRollouts | undefined {
    const { pilots } = this.extensions;
    if (pilots === undefined) return undefined;
    const pool = this.pool(clock);
    const next = pilots.next(pool, clock);
    if (this.arms.size > pool.size) this.estimator.addArms?.(this.arms);
    return next;
  }
  /** A task of each of the pilots' arms. */
  tasksOf(
    { arms, sameTasks }: Pick<PilotRollouts, "arms" | "sameTasks">,
    seed: number,
    clock: Clock,
  ): DrawnTask[] {
    return arms.flatMap((arm) => {
      const name = this.arms.name(arm);
      const random =
        sameTasks === true ? randomStream("probe", name) : randomStream(seed, "try", clock.step, arm);
      const task = this.division.draw(arm, random, clock);
      return task === null ? [] : [{ arm: name, task }];
    });
  }
  /** Takes the groups of the last pilot rollouts. */
  observePilots(groups: readonly Group[], clock: Clock): void {
    this.happenings.add(() => ({ kind: "tried", groups: groups.map(recordOf) }));
    if (this.samplerAsks) return this.extensions.pilots?.observe(groups, clock);
    this.estimator.pilots?.observe(this.observations(groups).observations, clock);
    this.beliefs.changed("all");
  }

  /** Number of groups to start a step with. */
  asks(wanted: number, clock: Clock): number {
    return this.budget.groups?.(wanted, clock) ?? wanted;
  }
  /** How many more rollouts a group gets by what those so far earned; undefined: none. */
  get growth(): Budget["more"] {
    return this.budget.more?.bind(this.budget);
  }
  admit(group: Group): Verdict {
    return this.admission.admit(group);
  }
  /** Verdicts on all groups of a step. Groups beyond the number wanted are left out, so that all steps have one size. */
  verdicts(groups: readonly Group[], wanted: number): Verdict[] {
    const verdicts = groups.map((group) => this.admit(group));
    const admitted = [...groups.keys()].filter((i) => verdicts[i]!.admitted);
    const preferred = this.admission.prefer?.(admitted.map((i) => groups[i]!)).map((at) => admitted[at]!);
    for (const i of (preferred ?? admitted).slice(wanted))
      verdicts[i] = { admitted: false, reason: "the step has as many groups as it wants" };
    return verdicts;
  }
  /** How many more groups to draw; 0 ends the refill. */
  more(state: Parameters<Refill["more"]>[0]): number {
    return this.refill.more(state);
  }

  /** Adds arms for new tasks, where each arm is one task. */
  grow(): void {
    const { size } = this.arms;
    this.division.grow?.();
    this.estimator.addArms?.(this.arms);
    const { task } = this.arms;
    const fresh = Array.from({ length: this.arms.size - size }, (_, i) => size + i);
    if (task !== undefined && fresh.length > 0)
      this.happenings.add(() => ({ kind: "appeared", tasks: fresh.map((arm) => task.call(this.arms, arm)) }));
  }

  /** Starts to record what the curriculum learns apart from groups. */
  record(): void {
    this.happenings.record();
  }
  /** What was recorded since the last call. */
  happened(): Happening[] {
    return this.happenings.take();
  }

  /** The arm of that name; a new point of a box is added. −1: there is no such arm. */
  armNamed(name: Arm): number {
    const known = this.arms.find(name);
    if (known >= 0) return known;
    const found = this.division.named?.(name) ?? -1;
    if (found >= 0) this.estimator.addArms?.(this.arms);
    return found;
  }
  /**
   * Takes what a recorded run's curriculum learned apart from a step's groups, before these are observed.
   * @param recorded absent: it was not recorded
   * @param drawn arms of the step's groups, where no draw was recorded
   * @returns what is missing to continue as that run did
   */
  recall(
    recorded: readonly Happening[] = [],
    drawn: () => readonly number[],
    clock: Clock,
  ): Missing | undefined {
    return this.recalling.take(recorded, drawn, clock);
  }

  // ─────────────────────────────────────────────────────────────── observe

  /**
   * Observes a step, rejected groups included: one observation per arm, over all its rollouts.
   * @returns each group's signal; NaN: none
   */
  observe(groups: readonly Group[], verdicts: readonly Verdict[], clock: Clock): Float64Array {
    const { observations, signals, arms } = this.observations(groups);
    groups.forEach((group, i) => {
      if (!this.unmeasured.includes(group)) this.signal.remember?.(group, arms[i]!, this.arms);
      this.beliefs.count(arms[i]!, 0, 1);
    });
    this.signal.endStep?.();
    this.estimator.model?.observeGroups?.(groups);
    for (const observation of observations) {
      this.beliefs.count(observation.arm, observation.rollouts, 0);
      this.estimator.observe(observation, clock.step);
    }
    this.beliefs.changed(arms);
    this.estimator.endStep?.();
    this.beliefs.endStep();
    this.admission.remember?.(groups, arms, clock);
    this.budget.learn?.(groups, arms, verdicts, clock);
    const outcomes = groups.map((group, i) => ({
      group,
      arm: arms[i]!,
      estimate: this.beliefs.latest(arms[i]!),
    }));
    this.sampler.learn?.(outcomes, this.pool(clock), clock);
    for (const { source } of this.sources) source.observe?.(groups, clock);
    return signals;
  }

  /** Trains the estimator's model. @returns metrics */
  async learn(groups: readonly Group[], clock: Clock): Promise<Readonly<Record<string, number>>> {
    return (await this.estimator.model?.train?.(groups, clock)) ?? {};
  }

  private observations(groups: readonly Group[]): ReturnType<typeof observationsOf> {
    const found = observationsOf(groups, this.signal, this.arms);
    this.unmeasured = found.unmeasured;
    return found;
  }

  /** Faults of the last step: signals that are not finite, and once for each arm that it has no task left. */
  faults(): Fault[] {
    const empty = [...this.draws.usedUp].filter((arm) => !this.reported.has(arm));
    for (const arm of empty) this.reported.add(arm);
    const found = this.found;
    this.found = [];
    return [
      ...found,
      ...nonFinite(this.signalName, this.unmeasured),
      ...withoutTasks(empty.map((arm) => this.arms.name(arm))),
    ];
  }

  /** Events since the last call. */
  events(): readonly CurriculumEvent[] {
    return this.extensions.events?.() ?? [];
  }

  // ─────────────────────────────────────────────────────────────── state

  /** Sources that only this curriculum draws from. */
  private get own(): TaskSource[] {
    return this.sources.flatMap(({ source }) => (source.shared === true ? [] : [source]));
  }

  /** Arrays are not copied, except those that change before the next `observe`. */
  save(): Saved {
    const { division, signal, estimator, sampler, admission, refill, budget } = this;
    return joined({
      arms: saveArms(division, this.sources),
      seen: this.beliefs.save(),
      division: division.save?.(),
      signal: signal.save?.(),
      estimator: estimator.save(),
      sampler: sampler.save?.(),
      admission: admission.save?.(),
      refill: refill.save?.(),
      budget: budget.save?.(),
      sources: joined(Object.fromEntries(this.own.map((source) => [source.name, source.save()]))),
    });
  }

  private loadParts(saved: Saved): void {
    const { division, signal, estimator, sampler, admission, refill, budget } = this;
    division.load?.(partOf(saved, "division"));
    this.beliefs.load(partOf(saved, "seen"));
    for (const [name, part] of Object.entries({ signal, estimator, sampler, admission, refill, budget }))
      part.load?.(partOf(saved, name));
  }

  load(saved: Saved): void {
    const changed = changedSince(partOf(saved, "arms"), this.division, this.sources);
    this.found = tasksChanged(changed);
    this.happenings.take();
    // State of other arms would be assigned to the wrong ones.
    if (changed.sameArms) this.loadParts(saved);
    const sources = partOf(saved, "sources");
    for (const source of this.own) source.load(partOf(sources, source.name));
    // Adds tasks that another stage has made meanwhile, so that a replay has them too.
    this.grow();
  }
}
