/** What the loop drives, on a real policy: stages, steps, evaluations, checkpoints. */
import { join } from "node:path";
import { create } from "../../core/create.ts";
import { randomStream } from "../../lib/random.ts";
import type { Clock, Saved } from "../../core/basics.ts";
import { policyFolder, writeCheckpoint, type RunState } from "../checkpoint/checkpoint.ts";
import { KeptPolicy } from "../checkpoint/keptPolicy.ts";
import { claims, unclaimedError, unclaimedText } from "../checkpoint/claims.ts";
import type { LoadedConfig } from "../../rules/load.ts";
import type { Commands } from "./commands.ts";
import { HeldOutExam } from "../evaluation/heldOutExam.ts";
import { authoredPath, changesSince, readRunFile, storedConfig } from "./files.ts";
import { identitiesOf } from "../checkpoint/identity.ts";
import { loadOptimizers, saveOptimizers } from "../models/optimizers.ts";
import { keepSetting, loadWith, propose, type Setting } from "./settings.ts";
import type { PolicyServer } from "../harness/policyServer.ts";
import { ReferencePolicy } from "./referencePolicy.ts";
import { prepareRun, reportNotes, type PreparedRun } from "./prepareRun.ts";
import { ServedRun } from "../harness/servedRun.ts";
import { Publisher } from "./serving.ts";
import { lastStep, readLoopState, type Driver, type LoopState } from "./loop.ts";
import type { Session } from "./session.ts";
import type { Stage } from "../step/context.ts";
import { StageComponents } from "./stageComponents.ts";
import { stepOf } from "../stages/kinds.ts";
import { RegressionMatrix } from "../stages/matrix.ts";
import { keepSnapshot, keepStage, mergeInto } from "../stages/weights.ts";
import { Stopwatch } from "../step/stopwatch.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

/** The run as its own `gradus serve`, for harnesses. */
const servedBy = (publisher: Publisher): ServedRun =>
  new ServedRun({
    program: process.argv[1] ?? "",
    target: publisher.folder,
    publish: () => publisher.publish(),
  });

export class Trainer implements Driver {
  readonly components: StageComponents;
  private stage: Stage | undefined;
  private index = 0;
  private readonly reference: ReferencePolicy;
  /** State of the parts at the boundary before the step in flight: what a given-up step drew is put back. */
  private boundary: Record<string, Saved> | undefined;
  private readonly matrix: RegressionMatrix;
  private readonly exam: HeldOutExam;
  private readonly publisher: Publisher | undefined;
  /** Where evaluations decide what stays. */
  private readonly kept: KeptPolicy | undefined;

  constructor(
    private readonly session: Session,
    /** Folder of the run; undefined: nothing is kept. */
    private readonly folder: string | undefined,
    private readonly commands: Commands | undefined,
    /** The policy as harnesses call it, where nothing is kept; else the run serves itself. */
    server?: PolicyServer,
  ) {
    const { policy, recorder } = session;
    const report = (message: string): void =>
      recorder.event("warning", "weights-not-published", `${message} The run goes on.`, {
        action: "What serves this run keeps answering with earlier weights until they can be written.",
      });
    this.publisher = folder === undefined ? undefined : new Publisher(folder, policy, report);
    const random = randomStream(session.config.seed, "methods");
    const serving = this.publisher === undefined ? server : servedBy(this.publisher);
    this.components = new StageComponents({
      random,
      models: session.models,
      tokenizer: session.policy.tokenizer,
      ...(serving !== undefined && { server: serving }),
    });
    if (folder !== undefined) this.kept = new KeptPolicy(session, folder, () => this.components.optimizers());
    this.matrix = new RegressionMatrix(session, this.components);
    this.exam = new HeldOutExam(session, this.components, folder);
    this.reference = new ReferencePolicy(policy, folder);
  }

  /** Makes every stage's methods and loads user rewards, so that what is missing is reported before the first step. */
  prepare(): Promise<PreparedRun> {
    return prepareRun(this.session, this.components);
  }

  /** A stage begins, or goes on after a resume (`state.entered`). */
  async enter(index: number, state: LoopState): Promise<void> {
    const { config, policy, models } = this.session;
    const { on_enter, turns } = config.stages[index]!;
    this.use(turns[0]?.stage ?? index);
    if (state.entered) return;
    if (on_enter.snapshot !== undefined) await keepSnapshot(policy, on_enter.snapshot);
    for (const { name, from } of on_enter.init) models.init(name, from);
    if (on_enter.merge.length > 0) await mergeInto(policy, config, on_enter.merge);
    if (on_enter.resetOptimizer || this.changesKind(index)) policy.resetOptimizer();
    await models.renew(on_enter.models);
    if (this.reference.isDue(config, index) || on_enter.refreshReference)
      await this.reference.take(state.done);
  }

  /** A stage is over. */
  async leave(index: number, clock: Clock): Promise<void> {
    const { config, policy } = this.session;
    await keepStage(policy, config, index);
    await this.matrix.measure(config.stages[index]!, clock);
  }

  /** Takes up a checkpoint: the reference first, for `load` fills the policy, from which snapshots are taken. */
  async restore(folder: string, state: RunState): Promise<void> {
    const { policy, models } = this.session;
    const saved = this.claimed(folder, state);
    this.kept?.goOn(state.step + 1, readLoopState(state.loop).kept?.done);
    await this.reference.load(saved["reference"]);
    await policy.load(join(folder, policyFolder));
    await models.restore(folder);
    this.components.load(saved);
    if (saved["optimizers"] !== undefined)
      loadOptimizers(policy, this.components.optimizers(), saved["optimizers"]);
  }

  /** The state in a checkpoint by the names that the parts have now. @throws UserError where no part takes some of it up */
  private claimed(
    checkpoint: string,
    { step, parts, identities, loop }: RunState,
  ): Readonly<Record<string, Saved>> {
    const { folder } = this;
    const { parts: saved, unclaimed } = claims(
      { parts, identities, stage: readLoopState(loop).stage },
      {
        identities: identitiesOf(this.session.config),
        stateful: Object.keys(this.components.save()),
        changes: () => (folder === undefined ? [] : changesSince(folder, this.session.config)),
      },
    );
    if (unclaimed.length === 0) return saved;
    if (!this.startsFresh(step))
      throw unclaimedError(checkpoint, authoredPath(folder ?? checkpoint), unclaimed);
    reportNotes(this.session, [
      {
        name: "state-fresh",
        message: `State of the checkpoint starts from zero, as was asked for: ${unclaimedText(unclaimed)}.`,
        action: "To keep it, fork again with that part as it was.",
      },
    ]);
    return saved;
  }

  /** Whether a checkpoint is the parent's, of a fork that was to drop what its config does not claim. */
  private startsFresh(step: number): boolean {
    if (this.folder === undefined) return false;
    const { parent, fresh } = readRunFile(this.folder);
    return fresh === true && parent?.step === step;
  }

  /** Moments of a supervised loss say nothing of the policy gradient's: the optimiser starts afresh, warm-up included. */
  private changesKind(index: number): boolean {
    const { stages } = this.session.config;
    const before = stages.slice(0, index).findLast(({ part }) => !part);
    return before !== undefined && before.kind !== stages[index]!.kind;
  }

  /** @param index of the stage; default: the present one */
  async step(clock: Clock, number: number, index: number = this.index): Promise<Record<string, number>> {
    if (index !== this.index) this.use(index);
    const stage = this.present();
    this.boundary = this.components.boundary();
    const watch = new Stopwatch();
    const { reset_every } = stage.config.body.update;
    if (reset_every !== undefined && clock.stageStep > 0 && clock.stageStep % reset_every === 0)
      this.session.policy.resetOptimizer();
    const metrics = await stepOf(stage.config.kind)({
      session: this.session,
      stage,
      clock,
      step: number,
      watch,
    });
    this.boundary = undefined;
    return metrics;
  }

  rewind(): void {
    if (this.boundary !== undefined) this.components.load(this.boundary);
    this.boundary = undefined;
  }

  get examines(): "rl" | "all" | "none" {
    const { stages, top } = this.session.config;
    if (stages.some(({ kind }) => kind === "rl")) return "rl";
    return top.tasks.length > 0 && top.reward.terms.length > 0 ? "all" : "none";
  }

  evaluate(role: "first" | "periodic" | "last", clock: Clock): Promise<Readonly<Record<string, number>>> {
    return this.exam.take(role, clock);
  }

  async checkpoint(
    state: LoopState,
    best?: { readonly metric: string; readonly value: number },
  ): Promise<void> {
    const { policy, models, recorder, config } = this.session;
    if (this.folder === undefined) return;
    const parts = {
      ...this.components.save(),
      ...this.boundary,
      optimizers: saveOptimizers(policy, this.components.optimizers().keys()),
      reference: this.reference.save(),
    };
    const identities = Object.fromEntries([...identitiesOf(config)].filter(([name]) => name in parts));
    const { path, bytes } = await writeCheckpoint(
      this.folder,
      { step: lastStep(state), loop: state, parts, identities },
      async (folder) => {
        await policy.save(join(folder, policyFolder));
        await models.save(folder);
      },
      config.checkpoint.keep,
      best,
    );
    this.kept?.prune(config.checkpoint.keep);
    recorder.append({
      kind: "checkpoint",
      step: lastStep(state),
      path: relativePath(this.folder, path),
      bytes,
      ...(best === undefined ? {} : { best }),
    });
  }

  async keep(done: number): Promise<void> {
    await this.kept?.keep(done);
  }
  async putBack(done: number): Promise<void> {
    await this.kept?.putBack(done);
  }

  obey(checkpoint: () => Promise<void>): Promise<"go" | "stop"> {
    this.publisher?.atBoundary();
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
    this.exam.renew();
    return undefined;
  }

  /** The methods of a stage, and its optimiser from the next update on. */
  private use(index: number): void {
    const config = this.session.config.stages[index]!;
    this.index = index;
    this.stage = this.components.stage(config, this.session.config.stages);
    const optimizer = create(config.body.update.optimizer, this.components.context(config.body));
    this.session.policy.setOptimizer(optimizer, { reset: false });
  }

  private present(): Stage {
    if (this.stage === undefined) throw new Error("a step before its stage was entered");
    return this.stage;
  }
}
