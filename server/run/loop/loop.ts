/** A run from where it is to its end: stages, steps, evaluations, checkpoints, and the commands it gets on the way. */
import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import { turnAt } from "../../config/build/stagePlan.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import type { Clock } from "../../core/basics.ts";
import { Interrupted, type Session } from "./session.ts";
import { decide, keptSchema } from "./keeping.ts";
import { ends, seenWith, whyEnded, whyNot } from "../../algorithm/curriculum/until.ts";

const stateSchema = z.object({
  /** Steps done, over all stages. */
  done: z.number().int(),
  /** Of those, steps of `rl` stages. */
  rl: z.number().int(),
  stage: z.number().int(),
  stageStep: z.number().int(),
  /** Whether the present stage has started: its snapshot taken, its record written. */
  entered: z.boolean(),
  /** Stages whose records are at the step that is next: a run that resumes here writes them again. */
  marked: z.array(z.number().int()).nullable().default(null),
  /** What `until` has seen of its metrics in this stage. */
  history: z.record(z.string(), z.array(z.number()).readonly()),
  /** Steps that counted at the last evaluation; −1: none yet. */
  evaluated: z.number().int(),
  /** Best value so far of `checkpoint.best`'s metric; null before the first. */
  best: z.number().nullable().default(null),
  /** What an evaluation that finds the policy worse goes back to; null before the first evaluation. */
  kept: keptSchema.nullable().default(null),
  /** Steps that evaluations have undone. */
  undone: z.number().int().default(0),
  /** Seconds of earlier attempts. */
  seconds: z.number(),
});
export type LoopState = z.output<typeof stateSchema>;

export const beginning: LoopState = {
  done: 0,
  rl: 0,
  stage: 0,
  stageStep: 0,
  entered: false,
  marked: [],
  history: {},
  evaluated: -1,
  best: null,
  kept: null,
  undone: 0,
  seconds: 0,
};
/** Of versions that did not note what they marked: the present stage, where none of its steps is done. */
export function readLoopState(value: unknown): LoopState {
  const state = stateSchema.parse(value);
  const begins = state.entered && state.stageStep === 0;
  return { ...state, marked: state.marked ?? (begins ? [state.stage] : []) };
}

/** A new run from another's checkpoint: its own evaluations, best and time, and a record of the stage that it begins in. */
export const forked = (state: LoopState): LoopState => ({
  ...state,
  evaluated: -1,
  best: null,
  kept: null,
  undone: 0,
  seconds: 0,
  marked: [...new Set([...(state.marked ?? []), ...(state.entered ? [state.stage] : [])])],
});

type StepMetrics = Readonly<Record<string, number>>;

/** What the loop drives. A real run gives all of it; a dry run leaves out what it does not keep. */
export interface Driver {
  /** A stage begins: builds its methods, does what `on_enter` asks, takes the reference at the first `rl` stage. */
  enter(stage: number, state: LoopState): Promise<void>;
  /** A stage is over, before the next begins: what later ones need of its weights, what became of every stage's tasks. */
  leave(stage: number, clock: Clock): Promise<void>;
  /** One step of a stage. Its records are appended, not committed. */
  step(clock: Clock, step: number, stage: number): Promise<StepMetrics>;
  evaluate(role: "first" | "periodic" | "last", clock: Clock): Promise<StepMetrics>;
  /** What evaluations go with: `rl` steps, where there are any; else all steps; none where nothing tells right from wrong. */
  readonly examines: "rl" | "all" | "none";
  /** `best`: the evaluation that makes this checkpoint the run's best. */
  checkpoint(state: LoopState, best?: { readonly metric: string; readonly value: number }): Promise<void>;
  /** Keeps the policy as it is now, under the number of steps done. */
  keep(done: number): Promise<void>;
  /** The policy is again as `keep` found it. */
  putBack(done: number): Promise<void>;
  /** Puts back what a given-up step has drawn. */
  rewind(): void;
  /** Reads and answers control lines. */
  obey(checkpoint: () => Promise<void>): Promise<"go" | "stop">;
}

/** Last finished step, by its number in the log; −1 before the first. */
export const lastStep = (state: LoopState): number => state.done - 1;

export class Loop {
  private checkpointedAt: number;
  private checkpointedWhen = performance.now();
  private readonly began = performance.now();
  /** Step at which the latest turn of an alternation was reported. */
  private reportedTurn = -1;

  constructor(
    private readonly session: Session,
    private readonly driver: Driver,
    public state: LoopState,
  ) {
    this.checkpointedAt = state.done;
  }

  /** Runs to the end, or to where it is asked to stop. */
  async run(): Promise<"finished" | "stopped"> {
    this.markAgain();
    for (;;) {
      if ((await this.driver.obey(() => this.checkpoint())) === "stop") return this.end("stopped");
      this.session.signal.throwIfAborted();
      if (!(await this.place())) return this.end("finished");
      // What it found may be what `until` waits for.
      if (await this.evaluateIfDue()) continue;
      await this.checkpointIfDue();
      await this.step();
    }
  }

  private get stages(): Session["config"]["stages"] {
    return this.session.config.stages;
  }
  /** The stage whose step is next: of an alternation, the one whose turn it is. */
  private get present(): { index: number; stage: StageConfig; clock: Clock; begins: boolean } {
    const { stage: index, stageStep, rl } = this.state;
    const stage = this.stages[index]!;
    if (stage.kind !== "alternate") return { index, stage, clock: { step: rl, stageStep }, begins: false };
    const turn = turnAt(stage.turns, stageStep);
    const clock = { step: rl, stageStep: turn.before };
    return { index: turn.stage, stage: this.stages[turn.stage]!, clock, begins: turn.begins };
  }

  /** Moves to the stage that is due and begins it; false where none is left. */
  private async place(): Promise<boolean> {
    for (
      let stage = this.stages[this.state.stage];
      stage !== undefined;
      stage = this.stages[this.state.stage]
    ) {
      if (stage.part) {
        this.state = { ...this.state, stage: this.state.stage + 1 };
        continue;
      }
      const over =
        this.state.stageStep >= stage.steps ||
        (stage.until !== undefined && ends(stage.until, this.state.history));
      if (!over) {
        if (!this.state.entered) await this.enter();
        return true;
      }
      if (this.state.stageStep < stage.steps)
        this.session.recorder.event(
          "info",
          "stage-ended",
          `Stage ${stage.name} ended after ${this.state.stageStep} of ${stage.steps} steps: ${stage.until === undefined ? "" : whyEnded(stage.until, this.state.history)}.`,
        );
      else this.reportUnmet(stage);
      await this.leave();
      this.state = { ...this.state, stage: this.state.stage + 1, stageStep: 0, entered: false, history: {} };
    }
    return false;
  }

  /** A stage that used up its steps before what its author waited for. */
  private reportUnmet({ name, steps, until }: StageConfig): void {
    if (until === undefined || ends(until, this.state.history)) return;
    this.session.recorder.event(
      "warning",
      "stage-not-reached",
      `Stage ${name} ended after all of its ${steps} steps without its \`until\`: ${whyNot(until, this.state.history)}.`,
      { action: `Give stages.${name} more \`steps\`, or a bound in \`until\` that it can reach.` },
    );
  }

  private async enter(): Promise<void> {
    await this.driver.enter(this.state.stage, this.state);
    const { stage, marked } = this.state;
    this.state = { ...this.state, entered: true, marked: [...(marked ?? []), stage] };
    this.markStage(stage);
    this.session.recorder.commit(lastStep(this.state));
  }

  /** What a resumed attempt begins with replaces what the one before wrote of the same step. */
  private markAgain(): void {
    const marked = this.state.marked ?? [];
    for (const stage of marked) this.markStage(stage);
    if (marked.length > 0) this.session.recorder.commit(lastStep(this.state));
  }

  private async leave(): Promise<void> {
    const { stage, stageStep: steps, rl } = this.state;
    await this.driver.leave(stage, { step: rl, stageStep: steps });
    this.session.recorder.commit(lastStep(this.state));
  }

  private markStage(index: number): void {
    const { name, kind } = this.stages[index]!;
    const step = this.state.done;
    this.session.recorder.append({ kind: "stage", step, index, name, stage_kind: kind });
  }

  /** Steps that evaluations count: those of `rl` stages, or all where a run has none of these. */
  private get counted(): number {
    return this.driver.examines === "rl" ? this.state.rl : this.state.done;
  }

  private async evaluateIfDue(): Promise<boolean> {
    const { examines } = this.driver;
    if (examines === "none" || (examines === "rl" && this.present.stage.kind !== "rl")) return false;
    const { every } = this.session.config.evaluation;
    const { evaluated } = this.state;
    const { counted } = this;
    const due = evaluated < 0 || (every > 0 && counted % every === 0 && counted !== evaluated);
    if (due) await this.evaluate(evaluated < 0 ? "first" : "periodic");
    return due;
  }

  private async evaluate(role: "first" | "periodic" | "last"): Promise<void> {
    const { rl: step, stage, stageStep } = this.state;
    const clock = this.stages[stage] === undefined ? { step, stageStep } : this.present.clock;
    const metrics = await this.driver.evaluate(role, clock);
    this.state = { ...this.state, evaluated: this.counted, history: this.seen(metrics) };
    this.session.recorder.commit(lastStep(this.state));
    if (!(await this.undoIfWorse(metrics))) return this.keepIfBest(metrics);
    // The run's last evaluation is of the weights that it ends with.
    if (role === "last") await this.evaluate(role);
  }

  /** @returns whether what was trained since the last evaluation is undone */
  private async undoIfWorse(metrics: StepMetrics): Promise<boolean> {
    const { done, kept, undone } = this.state;
    const decision = decide(this.session.config.evaluation.keep, metrics, done, kept);
    if (decision === undefined) return false;
    this.state = { ...this.state, kept: decision.kept };
    if (decision.kind === "keep") {
      await this.driver.keep(done);
      return false;
    }
    const { message, steps } = decision;
    await this.driver.putBack(decision.kept.done);
    this.state = { ...this.state, undone: undone + steps };
    const data = { steps, kept_steps: decision.kept.done };
    this.session.recorder.event("info", "update-undone", message, { data });
    this.session.recorder.commit(lastStep(this.state));
    return true;
  }

  /** A better evaluation than all before is worth a checkpoint of its own. Before the first step there is nothing to keep. */
  private async keepIfBest(metrics: StepMetrics): Promise<void> {
    const wish = this.session.config.checkpoint.best;
    const value = wish === undefined ? undefined : metrics[wish.metric];
    if (wish === undefined || value === undefined || Number.isNaN(value) || this.state.done === 0) return;
    const { best } = this.state;
    if (best !== null && (wish.mode === "max" ? value <= best : value >= best)) return;
    this.state = { ...this.state, best: value };
    await this.checkpoint({ metric: wish.metric, value });
  }

  /** What `until` has seen, with what these metrics say of its own. */
  private seen(metrics: StepMetrics): LoopState["history"] {
    const until = this.stages[this.state.stage]?.until;
    const { history } = this.state;
    return until === undefined ? history : seenWith(until, history, metrics);
  }

  private async checkpointIfDue(): Promise<void> {
    const { every, every_seconds } = this.session.config.checkpoint;
    const steps = this.state.done - this.checkpointedAt;
    if (steps === 0) return;
    const long = (performance.now() - this.checkpointedWhen) / 1000 >= every_seconds;
    if ((every > 0 && steps >= every) || long) await this.checkpoint();
  }

  /** Of the last boundary: also while a step's rollouts are being written, of which it knows nothing. */
  async checkpoint(best?: { readonly metric: string; readonly value: number }): Promise<void> {
    this.session.recorder.sync();
    await this.driver.checkpoint({ ...this.state, seconds: this.seconds }, best);
    this.session.recorder.commit(lastStep(this.state));
    this.session.recorder.sync();
    [this.checkpointedAt, this.checkpointedWhen] = [this.state.done, performance.now()];
  }

  /** Seconds of work on the run, earlier attempts included. */
  get seconds(): number {
    return this.state.seconds + (performance.now() - this.began) / 1000;
  }

  private async step(): Promise<void> {
    const { index, stage, clock, begins } = this.present;
    const number = this.state.done;
    if (begins && this.reportedTurn !== number) this.markStage(index);
    this.reportedTurn = number;
    let metrics: StepMetrics;
    try {
      metrics = await this.driver.step(clock, number, index);
    } catch (error) {
      // A stop was asked for: the loop obeys it at the boundary it is still at.
      if (!(error instanceof Interrupted)) throw error;
      return this.driver.rewind();
    }
    if (this.session.config.evaluation.keep !== undefined)
      metrics = { ...metrics, "update/undone": this.state.undone };
    this.session.recorder.metrics(number, metrics);
    this.session.recorder.commit(number);
    checkFinite(metrics, number, stage.name);
    if (stage.kind === "rl") this.session.failed.check(stage.body.reward.max_failed_steps);
    this.state = {
      ...this.state,
      done: number + 1,
      rl: this.state.rl + (stage.kind === "rl" ? 1 : 0),
      stageStep: this.state.stageStep + 1,
      marked: [],
      history: this.seen(metrics),
    };
  }

  private async end(status: "finished" | "stopped"): Promise<"finished" | "stopped"> {
    if (status === "finished" && this.driver.examines !== "none" && this.counted > 0)
      await this.evaluate("last");
    if (this.state.done !== this.checkpointedAt || status === "finished") await this.checkpoint();
    return status;
  }
}

/** A loss or gradient that is no number has spoilt nothing yet (the engine does not apply it), but nothing good follows. */
function checkFinite(metrics: StepMetrics, step: number, stage: string): void {
  const bad = ["update/loss", "update/grad_norm"].find(
    (name) => metrics[name] !== undefined && !Number.isFinite(metrics[name]),
  );
  if (bad === undefined) return;
  throw new UserError(`${bad} is ${metrics[bad]} at step ${step} (stage ${stage}).`, {
    code: "not-finite",
    action:
      "Lower update.optimizer.lr or raise its warmup, keep clip_norm at 1, and look at this step's rollouts; a resumed run continues from the last checkpoint.",
  });
}
