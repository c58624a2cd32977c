/** The curriculum's step: draw → (rollouts) → admit, refill → observe → estimate → draw. */
import type { CreateContext, StageBody } from "../../core/config/resolved.ts";
import { joined, partOf } from "../../core/saved.ts";
import type {
  Candidate,
  Notice,
  Probe,
  Admission,
  ArmSet,
  Budget,
  Division,
  Estimator,
  Known,
  Refill,
  Sampler,
  Signal,
  SourceOf,
  Verdict,
} from "../../core/slots/curriculum.ts";
import { toWire } from "../../../shared/rollouts.ts";
import { randomStream, type Random } from "../../lib/random.ts";
import type { Task } from "../../core/task.ts";
import type { TaskSource } from "../../core/slots/tasks.ts";
import type { Arm, Clock, Saved, Stateful } from "../../core/basics.ts";
import type { Group } from "../../core/rollouts.ts";
import { Beliefs } from "./beliefs.ts";
import { create } from "../../core/create.ts";
import { nonFinite, withoutTasks, type Fault } from "./curriculumFaults.ts";
import { Recall, type Lack } from "./recall.ts";
import { triedOf, type Happening } from "./journal.ts";
import { changedSince, saveArms, tasksChanged } from "./knownArms.ts";
import { observationsOf } from "./observations.ts";

export interface DrawnTask {
  readonly arm: Arm;
  readonly task: Task;
  /** Rollouts of its group; absent: `rollout.group`. */
  readonly rollouts?: number;
}

export class Curriculum implements Stateful {
  readonly division: Division;
  readonly admission: Admission;
  private readonly signal: Signal;
  private readonly signalName: string;
  private readonly estimator: Estimator;
  private readonly sampler: Sampler;
  private readonly refill: Refill;
  private readonly budget: Budget;
  private readonly group: number;
  /** Of the last groups that were observed those of which the signal was no finite number. */
  private unmeasured: readonly Group[] = [];
  /** Arms that had no task left to give; and those of them that were told. */
  private readonly usedUp = new Set<number>();
  private readonly told = new Set<number>();
  private readonly beliefs: Beliefs;
  private recalled: Recall | undefined;
  /** Whether the last probe is the sampler's. */
  samplerAsks = false;
  /** What happened beside the groups since it was last taken; undefined: nobody records it. */
  private journal: Happening[] | undefined;
  /** What loading has found, until it was told. */
  private found: readonly Fault[] = [];

  constructor(
    config: StageBody["curriculum"],
    readonly sources: readonly SourceOf[],
    context: CreateContext,
    /** Arms other than the config's own: those of a history. */
    division?: Division,
  ) {
    this.division = division ?? create(config.arms, context)(sources);
    this.signal = create(config.signal, context);
    this.signalName = config.signal.declaration.name;
    this.estimator = create(config.estimator, context);
    this.sampler = create(config.sampler, context);
    this.admission = create(config.admission, context);
    this.refill = create(config.refill, context);
    this.budget = create(config.budget, context);
    this.group = context.group;
    this.estimator.grow?.(this.arms);
    const { division: own, signal, estimator, sampler, admission } = this;
    this.beliefs = new Beliefs({ division: own, signal, estimator, sampler, admission });
  }

  /** All arms there are, by number. */
  get arms(): ArmSet {
    return this.division.arms;
  }
  /** What charts and evaluations call a task's arm. */
  familyOf(task: Task): Arm {
    return this.division.familyOf(task);
  }
  /** Whether no arm there is can ever draw the task. */
  isArmless(task: Task): boolean {
    return this.division.armOf(task) < 0;
  }

  // ─────────────────────────────────────────────────────────────── draw

  /**
   * Tasks to roll out. Fewer than `n` only when every arm that may be drawn is used up.
   * @param taken arms that the step has drawn already; filled
   */
  async draw(n: number, random: Random, clock: Clock, taken = new Set<number>()): Promise<DrawnTask[]> {
    await this.survey();
    const found: Candidate[] = [];
    const empty = new Set<number>();
    for (let at = 0; found.length < n;) {
      const known = this.known(clock, this.division.once === true ? new Set([...empty, ...taken]) : empty);
      const arms = await this.drawArms(
        known,
        n - found.length,
        at === 0 ? random : random.fork("again", at),
        clock,
      );
      if (arms.length === 0) break;
      for (const arm of arms) {
        const task = empty.has(arm) ? null : this.division.draw(arm, random.fork("task", at++), clock);
        if (task === null) {
          empty.add(arm);
          if (this.division.filling?.(arm) !== true) this.usedUp.add(arm);
        } else found.push({ arm, task });
        taken.add(arm);
      }
    }
    await this.estimator.regard?.(found, clock);
    const { present } = this.estimator;
    if (present !== undefined)
      this.noteLooked(
        found.map(({ arm }) => arm),
        (arm) => present.call(this.estimator, arm) ?? Number.NaN,
        true,
      );
    return this.withBudget(found, clock);
  }

  private async survey(): Promise<void> {
    const fresh = (await this.estimator.survey?.(this.arms)) ?? [];
    this.beliefs.changed(fresh.length === this.arms.size ? "all" : fresh);
    this.noteLooked(fresh, (arm) => this.estimate(arm), false);
  }
  private noteLooked(arms: readonly number[], value: (arm: number) => number, now: boolean): void {
    if (this.journal === undefined || arms.length === 0) return;
    const values = arms.map((arm) => toWire(value(arm)));
    this.journal.push({ kind: "looked", arms: arms.map((arm) => this.arms.name(arm)), values, now });
  }
  private noteDrawn(drawn: readonly number[]): void {
    const { sampler, journal } = this;
    if (journal === undefined || sampler.drew === undefined || drawn.length === 0) return;
    const notes = sampler.notes?.();
    const arms = drawn.map((arm) => this.arms.name(arm));
    journal.push({ kind: "drawn", arms, ...(notes === undefined ? {} : { notes: [...notes] }) });
  }

  private async drawArms(known: Known, n: number, random: Random, clock: Clock): Promise<number[]> {
    const candidates = this.sampler.candidates?.(known, n, random.fork("candidates"), clock) ?? [];
    if (candidates.length > 0 && this.estimator.foresee !== undefined) {
      const { task } = this.arms;
      if (task !== undefined)
        await this.estimator.foresee(candidates.map((arm) => ({ arm, task: task.call(this.arms, arm) })));
      this.beliefs.changed(candidates);
      this.noteLooked(candidates, (arm) => this.estimate(arm), false);
    }
    const drawn = this.sampler.draw(known, n, random.fork("arm"), clock, candidates);
    this.beliefs.changed(drawn);
    // A sampler that chooses from a box has made arms of its points.
    if (this.arms.size > known.size) this.estimator.grow?.(this.arms);
    this.noteDrawn(drawn);
    return drawn;
  }

  private withBudget(found: readonly Candidate[], clock: Clock): DrawnTask[] {
    const arms = found.map(({ arm }) => arm);
    const rollouts = this.budget.rollouts?.(arms, this.group, this.known(clock), clock);
    return found.map(({ arm, task }, i) => ({
      arm: this.arms.name(arm),
      task,
      ...(rollouts === undefined ? {} : { rollouts: rollouts[i]! }),
    }));
  }

  /**
   * What samplers see of the arms.
   * @param closed those that may not be drawn now
   */
  known(clock: Clock, closed: ReadonlySet<number> = new Set()): Known {
    return this.beliefs.known(clock, closed);
  }

  /** Of the next draw, by arm. */
  probabilities(clock: Clock): Float64Array {
    return this.sampler.probabilities(this.known(clock), clock);
  }

  /** Of how many simulated draws what `probabilities` last gave is counted; 0: it is computed. */
  get simulatedDraws(): number {
    return this.sampler.simulated?.() ?? 0;
  }

  /** What is believed of an arm's signal; NaN: nothing yet. */
  estimate(arm: number): number {
    return this.estimator.estimate(arm);
  }

  /** Standard deviation of that belief; NaN: unknown. */
  spread(arm: number): number {
    return this.estimator.spread?.(arm) ?? Number.NaN;
  }

  // ─────────────────────────────────────────────────────────────── before a step, and within it

  /** Rollouts that the estimator or the sampler wants before the next draw. */
  probe(clock: Clock): Probe | undefined {
    const wish = this.estimator.probe?.(this.arms, clock);
    this.samplerAsks = wish === undefined;
    return wish ?? this.samplersProbe(clock);
  }
  private samplersProbe(clock: Clock): Probe | undefined {
    if (this.sampler.probe === undefined) return undefined;
    const known = this.known(clock);
    const wish = this.sampler.probe(known, clock);
    if (this.arms.size > known.size) this.estimator.grow?.(this.arms);
    return wish;
  }
  /** A task of each arm, to try. */
  tasksOf({ arms, alike }: Pick<Probe, "arms" | "alike">, seed: number, clock: Clock): DrawnTask[] {
    return arms.flatMap((arm) => {
      const name = this.arms.name(arm);
      const random =
        alike === true ? randomStream("probe", name) : randomStream(seed, "try", clock.step, arm);
      const task = this.division.draw(arm, random, clock);
      return task === null ? [] : [{ arm: name, task }];
    });
  }
  /** What the rollouts that `probe` last asked for have shown. */
  probed(groups: readonly Group[], clock: Clock): void {
    this.journal?.push({ kind: "tried", groups: groups.map(triedOf) });
    if (this.samplerAsks) return this.sampler.probed?.(groups, clock);
    const { observations } = this.observations(groups);
    const others = this.estimator.probed?.(observations, clock) ?? [];
    this.beliefs.changed(observations.map(({ arm }) => arm));
    this.beliefs.changed(others);
  }

  /** Groups to begin a step with. */
  asks(wanted: number, clock: Clock): number {
    return this.budget.groups?.(wanted, clock) ?? wanted;
  }
  admit(group: Group): Verdict {
    return this.admission.admit(group);
  }
  /** Of all groups of a step; those beyond the number wanted are left out, so that its size does not depend on luck. */
  verdicts(groups: readonly Group[], wanted: number): Verdict[] {
    const verdicts = groups.map((group) => this.admit(group));
    const admitted = [...groups.keys()].filter((i) => verdicts[i]!.admitted);
    const preferred = this.admission.prefer?.(admitted.map((i) => groups[i]!)).map((at) => admitted[at]!);
    for (const i of (preferred ?? admitted).slice(wanted))
      verdicts[i] = { admitted: false, reason: "the step has as many groups as it wants" };
    return verdicts;
  }
  /** How many more groups to roll out; 0 ends the refill. */
  more(state: Parameters<Refill["more"]>[0]): number {
    return this.refill.more(state);
  }

  /** New tasks have been made: arms that are tasks appear. */
  grow(): void {
    const { size } = this.arms;
    this.division.grow?.();
    this.estimator.grow?.(this.arms);
    const { task } = this.arms;
    const fresh = Array.from({ length: this.arms.size - size }, (_, i) => size + i);
    if (task !== undefined && fresh.length > 0)
      this.journal?.push({ kind: "appeared", tasks: fresh.map((arm) => task.call(this.arms, arm)) });
  }

  /** From now on `happened` tells what the curriculum learns beside the groups. */
  record(): void {
    this.journal ??= [];
  }
  /** That, since it was last asked. */
  happened(): Happening[] {
    return this.journal?.splice(0) ?? [];
  }

  /** The arm of that name, of points of a box a new one where there was none; −1: there is none. */
  armNamed(name: Arm): number {
    const known = this.arms.find(name);
    if (known >= 0) return known;
    const found = this.division.named?.(name) ?? -1;
    if (found >= 0) this.estimator.grow?.(this.arms);
    return found;
  }
  /**
   * Takes what a recorded run's curriculum learned beside a step's groups, before these are observed.
   * @param told absent: nobody recorded it
   * @param drawn arms of the step's groups, where no draw was recorded
   * @returns what is missing to go on as that run did
   */
  recall(told: readonly Happening[] = [], drawn: () => readonly number[], clock: Clock): Lack | undefined {
    const { division, estimator, sampler, beliefs } = this;
    this.recalled ??= new Recall({ division, estimator, sampler, beliefs }, this);
    return this.recalled.take(told, drawn, clock);
  }

  // ─────────────────────────────────────────────────────────────── observe

  /**
   * What a step has shown, rejected groups included: one observation per arm, over all its rollouts.
   * @returns what each group says of its arm; NaN: nothing
   */
  observe(groups: readonly Group[], verdicts: readonly Verdict[], clock: Clock): Float64Array {
    const { observations, signals, arms } = this.observations(groups);
    groups.forEach((group, i) => {
      if (!this.unmeasured.includes(group)) this.signal.remember?.(group, arms[i]!, this.arms);
      this.beliefs.count(arms[i]!, 0, 1);
    });
    this.signal.advance?.();
    this.estimator.remember?.(groups);
    for (const seen of observations) {
      this.beliefs.count(seen.arm, seen.rollouts, 0);
      this.estimator.observe(seen, clock.step);
    }
    this.beliefs.changed(arms);
    this.beliefs.changed(this.estimator.advance?.(this.arms.size, clock.step) ?? []);
    this.admission.remember?.(groups, arms, clock);
    this.budget.learn?.(groups, arms, verdicts, clock);
    this.sampler.learn?.(groups, arms, this.known(clock), clock);
    for (const { source } of this.sources) source.observe?.(groups, clock);
    return signals;
  }

  /** What the estimator learns by a model. @returns metrics */
  async learn(groups: readonly Group[], clock: Clock): Promise<Readonly<Record<string, number>>> {
    return (await this.estimator.learn?.(groups, clock)) ?? {};
  }

  private observations(groups: readonly Group[]): ReturnType<typeof observationsOf> {
    const found = observationsOf(groups, this.signal, this.arms);
    this.unmeasured = found.unmeasured;
    return found;
  }

  /** What has gone wrong in the last step: signals that are no numbers, and once for each arm that it has no task left. */
  faults(): Fault[] {
    const news = [...this.usedUp].filter((arm) => !this.told.has(arm));
    for (const arm of news) this.told.add(arm);
    const found = this.found;
    this.found = [];
    return [
      ...found,
      ...nonFinite(this.signalName, this.unmeasured),
      ...withoutTasks(news.map((arm) => this.arms.name(arm))),
    ];
  }

  /** What has happened to the parts since this was last asked. */
  news(): readonly Notice[] {
    return this.sampler.news?.() ?? [];
  }

  // ─────────────────────────────────────────────────────────────── state

  /** Sources that only this curriculum draws from. */
  private get own(): TaskSource[] {
    return this.sources.flatMap(({ source }) => (source.shared === true ? [] : [source]));
  }

  /** Arrays are as they stand, not copies, but for those that change before the next `observe`. */
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
    this.journal?.splice(0);
    // Of other arms it would believe what is true of these.
    if (changed.sameArms) this.loadParts(saved);
    const sources = partOf(saved, "sources");
    for (const source of this.own) source.load(partOf(sources, source.name));
    // Tasks that another stage made meanwhile appear now: a replay must know them, too.
    this.grow();
  }
}
