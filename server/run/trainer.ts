/** What the loop drives, on a real policy: stages, steps, evaluations, checkpoints. */
import { modelsRead } from "../algorithm/modelsRead.ts";
import { join, relative } from "node:path";
import { z } from "zod";
import { Algorithm, create, type DrawnTask } from "../algorithm.ts";
import { rateAt } from "../config/learningRate.ts";
import type { RunConfig } from "../config/resolved.ts";
import { randomStream } from "../random.ts";
import type { Clock, Saved } from "../seams.ts";
import { writeCheckpoint } from "./checkpoint.ts";
import type { LoadedConfig } from "../config/index.ts";
import type { Commands } from "./commands.ts";
import { evaluate, type Answered } from "./evaluate.ts";
import { readRunFile, storedConfig } from "./files.ts";
import { keepSetting, loadWith, propose, type Setting } from "./settings.ts";
import { checkLearners } from "./learners.ts";
import { lastStep, type Driver, type LoopState } from "./loop.ts";
import { evaluationRecord } from "./record.ts";
import type { Session } from "./session.ts";
import { drawByWeight, heldOut, Parts, type Stage } from "./stage.ts";
import { step } from "./step.ts";
import { learnFrom } from "./supervised.ts";
import { measureMemory } from "./measure.ts";
import { Stopwatch } from "./timing.ts";

/** Where in a checkpoint the policy lies: `gradus sample` takes this folder or the one above it. */
export const policyFolder = "policy";
const referenceFolder = (run: string, done: number): string => join(run, "models", `reference-${done}`);
const referenceSchema = z.number().int().nullable();

export class Trainer implements Driver {
  readonly parts: Parts;
  private stage: Stage | undefined;
  private index = 0;
  /** Steps done when the reference was taken. */
  private reference: number | null = null;
  /** State of the parts at the last boundary: what a given-up step drew is put back. */
  private boundary: Record<string, Saved> = {};
  private exam: { readonly tasks: readonly DrawnTask[]; readonly algorithm: Algorithm } | undefined;

  constructor(
    private readonly session: Session,
    /** Folder of the run; undefined: nothing is kept. */
    private readonly folder: string | undefined,
    private readonly commands: Commands | undefined,
  ) {
    const random = randomStream(session.config.seed, "methods");
    this.parts = new Parts({ random, models: session.models, tokenizer: session.policy.tokenizer });
  }

  /** Makes every stage's methods and loads user rewards, so that what is missing is told before the first step. */
  async prepare(): Promise<Record<string, string>> {
    const { stages, top } = this.session.config;
    const bodies = [top, ...stages.filter((stage) => stage.kind === "rl").map((stage) => stage.body)];
    for (const stage of stages) this.parts.stage(stage);
    checkLearners(
      bodies.map((body) => this.parts.scorer(body)),
      this.session.models,
    );
    const bundles = await Promise.all(
      [...new Set(bodies.map((body) => this.parts.scorer(body)))].map((scorer) => scorer.prepare()),
    );
    return Object.assign({}, ...bundles);
  }

  /** A stage begins, or goes on after a resume (`state.entered`). */
  async enter(index: number, state: LoopState): Promise<void> {
    const config = this.session.config.stages[index]!;
    const { policy } = this.session;
    this.use(index);
    if (state.entered) return;
    if (config.on_enter.includes("reset_optimizer") || this.changesKind(index)) policy.resetOptimizer();
    const first = config.kind === "rl" && state.rl === 0 && state.evaluated < 0;
    if ((first && needsReference(this.session.config)) || config.on_enter.includes("refresh_reference"))
      await this.takeReference(state.done);
  }

  /** The reference is kept beside the checkpoints, once, since they hold the policy alone. */
  private async takeReference(done: number): Promise<void> {
    const { policy } = this.session;
    await policy.snapshot("reference");
    this.reference = done;
    if (this.folder !== undefined) await policy.save(referenceFolder(this.folder, done));
  }

  /** Takes up a checkpoint: the reference first, for `load` fills the policy, from which snapshots are taken. */
  async restore(folder: string, saved: Readonly<Record<string, Saved>>): Promise<void> {
    const { policy, models } = this.session;
    const reference = referenceSchema.parse(saved["reference"]?.json ?? null);
    if (reference !== null && this.folder !== undefined) {
      await policy.load(referenceFolder(this.folder, reference));
      await policy.snapshot("reference");
    }
    this.reference = reference;
    await policy.load(join(folder, policyFolder));
    await models.restore(folder);
    this.parts.load(saved);
  }

  /** Moments of a supervised loss say nothing of the policy gradient's: the optimiser starts afresh, warm-up included. */
  private changesKind(index: number): boolean {
    const { stages } = this.session.config;
    return index > 0 && stages[index - 1]!.kind !== stages[index]!.kind;
  }

  async step(clock: Clock, number: number): Promise<Record<string, number>> {
    const stage = this.present();
    this.boundary = this.parts.save();
    const watch = new Stopwatch();
    if (stage.config.kind === "rl") return step({ session: this.session, stage, clock, step: number, watch });
    return this.supervised(stage, clock, number, watch);
  }

  private async supervised(
    stage: Stage,
    clock: Clock,
    number: number,
    watch: Stopwatch,
  ): Promise<Record<string, number>> {
    const { config, models, signal } = this.session;
    signal.throwIfAborted();
    const drawn = drawByWeight(
      stage.curriculum,
      stage.config.batch,
      randomStream(config.seed, "supervised", number),
      clock,
    );
    const update = await watch.time("update", () =>
      learnFrom(
        models.get("policy"),
        drawn.map(({ task }) => task),
        rateAt(stage.config.body.update.schedule, clock),
        stage.config.body.rollout,
      ),
    );
    return {
      "update/loss": update.loss,
      "update/grad_norm": update.grad_norm,
      "update/lr": update.lr,
      "tokens/trained": update.tokens,
      ...measureMemory(this.session),
      ...watch.metrics(),
    };
  }

  rewind(): void {
    this.parts.load(this.boundary);
  }

  async evaluate(
    role: "first" | "periodic" | "last",
    clock: Clock,
  ): Promise<Readonly<Record<string, number>>> {
    const { config, policy, models, recorder, signal } = this.session;
    const { tasks, algorithm } = (this.exam ??= this.examination());
    const { report } = await evaluate(
      { config, tasks, algorithm, scorer: this.parts.scorer(config.top), policy, models, signal },
      clock,
      (answered) => this.recordAnswers(answered),
    );
    const { metrics } = report;
    recorder.append({ kind: "evaluation", step: recorder.step, time: Date.now(), role, metrics });
    return metrics;
  }

  /** As many greedy answers as drawn ones, of the same first tasks: what the model says, not every number. */
  private recordAnswers(answered: Answered): void {
    const { config, recorder } = this.session;
    const { record } = config.evaluation;
    const most = answered.greedy ? Math.ceil(record / 2) : Math.floor(record / 2);
    answered.task.forEach((task, row) => {
      if (task >= most || answered.batch.records[row]!.index > 0) return;
      const index = 2 * task + (answered.greedy ? 0 : 1);
      const { step } = recorder;
      recorder.append({ kind: "rollout", step, index, ...evaluationRecord(step, answered, row) });
    });
  }

  private examination(): { tasks: readonly DrawnTask[]; algorithm: Algorithm } {
    const { config, recorder } = this.session;
    const context = this.parts.context(config.top);
    const tasks = heldOut(config.top, context, config.evaluation.prompts);
    if (tasks.length < config.evaluation.prompts) {
      recorder.event(
        "warning",
        "few-held-out",
        `There are ${tasks.length} held-out tasks where evaluation.prompts asks for ${config.evaluation.prompts}.`,
        { action: "Widen the tasks' parameters, add data, or lower evaluation.prompts." },
      );
    }
    return { tasks, algorithm: new Algorithm(config.top, context) };
  }

  async checkpoint(
    state: LoopState,
    best?: { readonly metric: string; readonly value: number },
  ): Promise<void> {
    const { policy, models, recorder, config } = this.session;
    if (this.folder === undefined) return;
    const parts = { ...this.parts.save(), reference: { json: this.reference } };
    const { path, bytes } = await writeCheckpoint(
      this.folder,
      { step: lastStep(state), loop: state, parts },
      async (folder) => {
        await policy.save(join(folder, policyFolder));
        await models.save(folder);
      },
      config.checkpoint.keep,
      best,
    );
    recorder.append({
      kind: "checkpoint",
      step: lastStep(state),
      path: relative(this.folder, path),
      bytes,
      ...(best === undefined ? {} : { best }),
    });
  }

  obey(checkpoint: () => Promise<void>): Promise<"go" | "stop"> {
    return this.commands?.obey(checkpoint, (setting) => this.set(setting)) ?? Promise.resolve("go");
  }

  /** Takes up a value that was set; undefined, or why it cannot be. */
  private set(setting: Pick<Setting, "path" | "value">): string | undefined {
    const { folder, session, index } = this;
    if (folder === undefined) return "this run keeps nothing";
    const run = readRunFile(folder);
    const before = storedConfig(folder, run);
    const load = (more: readonly Pick<Setting, "path" | "value">[]): LoadedConfig =>
      loadWith(run, before.authored, [...before.settings, ...more]);
    const proposal = propose(setting, { config: session.config, present: index, load });
    if (!proposal.accepted) return proposal.reason;
    keepSetting(folder, { ...setting, step: session.recorder.step });
    session.config = proposal.config;
    if (this.stage !== undefined) this.use(index);
    // The held-out tasks stay: only what is read of the methods may have changed.
    const { top } = session.config;
    if (this.exam !== undefined)
      this.exam = { ...this.exam, algorithm: new Algorithm(top, this.parts.context(top)) };
    return undefined;
  }

  /** The methods of a stage, and its optimiser from the next update on. */
  private use(index: number): void {
    const config = this.session.config.stages[index]!;
    this.index = index;
    this.stage = this.parts.stage(config);
    const optimizer = create(config.body.update.optimizer, this.parts.context(config.body));
    this.session.policy.setOptimizer(optimizer, { reset: false });
  }

  private present(): Stage {
    if (this.stage === undefined) throw new Error("a step before its stage was entered");
    return this.stage;
  }
}

const needsReference = ({ stages }: RunConfig): boolean =>
  stages.some(({ body }) => modelsRead(body).includes("reference"));
