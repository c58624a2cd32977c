/** The served curriculum with its files: one request after the other, and an answer when its effect is on the device. */
import { createHash } from "node:crypto";
import type { RunConfig } from "../../../core/config/runConfig.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import { isObject, type Json } from "../../../../shared/lib/json.ts";
import type { Task } from "../../../core/task.ts";
import type { NamedTask } from "./drawnStep.ts";
import type { DrawRequest, ObserveRequest, RestoreRequest } from "./requests.ts";
import { OutOfOrder, ServedCurriculum } from "./servedCurriculum.ts";
import type { StateFolder } from "./stateFolder.ts";

/** Where the service is. */
export interface Standing {
  /** The last step that was drawn, and the last whose outcomes are known; −1: none. */
  readonly drawn: number;
  readonly observed: number;
  /** Steps that can be restored, next to −1. */
  readonly steps: readonly number[];
}

export class JournaledCurriculum {
  private served: ServedCurriculum;
  private before: Promise<unknown> = Promise.resolve();
  /** A request is being answered, or has failed: what is in memory may be half of its effect. */
  private spoilt = false;

  private constructor(
    private readonly config: RunConfig,
    private readonly folder: StateFolder,
  ) {
    this.served = new ServedCurriculum(config);
  }

  /** As it was when the last process ended, however it did. */
  static async open(config: RunConfig, folder: StateFolder): Promise<JournaledCurriculum> {
    const made = new JournaledCurriculum(config, folder);
    await made.reload();
    return made;
  }

  private async reload(): Promise<void> {
    const last = this.folder.steps().at(-1);
    const served = new ServedCurriculum(this.config);
    if (last !== undefined) {
      const { saved, decision } = this.folder.read(last);
      served.load(saved);
      this.completeDecisions(last, decision);
    }
    for (const draw of this.folder.drawsSince()) if (draw.step > served.observed) await served.draw(draw);
    this.served = served;
    this.spoilt = false;
  }

  /** A process that was killed between a state and its line has left the line out. */
  private completeDecisions(step: number, decision: Json): void {
    const last = this.folder.lastDecision();
    const isThere = isObject(last) && last["step"] === step;
    if (!isThere && isObject(decision)) this.folder.addDecision(decision);
  }

  draw(
    request: DrawRequest,
  ): Promise<{ readonly after: number; readonly stage: string; readonly tasks: readonly NamedTask[] }> {
    return this.next(async () => {
      this.spoilt = true;
      const { drawn, tasks, isNew } = await this.served.draw(request);
      if (isNew) this.folder.addDraw(request);
      this.spoilt = false;
      return { after: drawn.after, stage: this.config.stages[drawn.index]!.name, tasks };
    });
  }

  /** @returns the step's decision; the same report again gets the same */
  observe(request: ObserveRequest): Promise<Json> {
    return this.next(() => {
      const digest = createHash("sha256").update(JSON.stringify(request)).digest("hex");
      const { step } = request;
      if (step === this.served.observed) return this.again(step, digest);
      this.spoilt = true;
      const decision = this.served.observe(request);
      const plain: Json = JSON.parse(JSON.stringify(decision));
      this.folder.write(step, { saved: this.served.save(), digest, decision: plain });
      this.spoilt = false;
      this.folder.addDecision(decision);
      return plain;
    });
  }

  private again(step: number, digest: string): Json {
    const known = this.folder.read(step);
    if (known.digest === digest) return known.decision;
    throw new OutOfOrder(
      `step ${step} was observed with other outcomes; the next step to observe is ${step + 1}`,
      step + 1,
    );
  }

  restore({ step }: RestoreRequest): Promise<Standing> {
    return this.next(async () => {
      const steps = this.folder.steps();
      if (step !== -1 && !steps.includes(step))
        throw new UserError(`there is no state of step ${step}`, {
          code: "service-state",
          action:
            steps.length === 0
              ? "No step has been observed yet: restore -1."
              : `Restore one of ${steps[0]} to ${steps.at(-1)}, or -1 for the beginning; --keep keeps more.`,
        });
      this.folder.forgetAfter(step);
      await this.reload();
      return this.standing;
    });
  }

  /** The task that a prompt asks, whatever a chat template put around it; undefined: none that is known. */
  taskOf(prompt: string): Task | undefined {
    return this.served.taskOf(prompt);
  }

  state(): Promise<Standing> {
    return this.next(() => this.standing);
  }

  private get standing(): Standing {
    const { begun, observed } = this.served;
    return { drawn: begun, observed, steps: this.folder.steps() };
  }

  private next<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const done = this.before.then(async () => {
      // What is on the device is whole.
      if (this.spoilt) await this.reload();
      return work();
    });
    this.before = done.catch(() => undefined);
    return done;
  }
}
