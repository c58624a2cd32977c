/** What is done about the lines of `control.jsonl`, and how each is answered. */
import { setTimeout as wait } from "node:timers/promises";
import { unreadableAction, unreadableText, type Control } from "../../../shared/run/control.ts";
import { stoppedEarly, type ControlLine } from "../../../shared/run/run.ts";
import type { Recorder } from "../step/log/recorder.ts";
import { Interrupted } from "./session.ts";

const pollEvery = 100;

type SetLine = Extract<ControlLine, { action: "set" }>;
/** Sets a value; undefined, or why it is refused. */
export type Change = (line: Pick<SetLine, "path" | "value">) => string | undefined;

/** What can be answered while a step is in flight and its rollouts are kept: nothing of it depends on these. */
const withinStep = new Set<ControlLine["action"]>(["pause", "continue", "checkpoint"]);

export class Commands {
  private waiting: ControlLine[] = [];
  private polled = 0;
  private paused = false;

  constructor(
    private readonly control: Control,
    private readonly recorder: Recorder,
    private readonly signal: AbortSignal,
  ) {}

  private read(): void {
    const { lines, unreadable } = this.control.read();
    this.waiting.push(...lines);
    for (const line of unreadable) {
      const message = unreadableText(line);
      this.recorder.event("warning", "control-unreadable", message, { action: unreadableAction });
      if (line.id !== null) this.recorder.acknowledge(line.id, false, message);
    }
  }

  /**
   * Between two tokens of a step that is not yet trained on. A pause takes effect here, everything started staying in
   * memory; a stop, and a value that is set while the run is paused here, are for the boundary after it.
   * @param checkpoint writes one of that boundary
   * @throws Interrupted where the step is to be given up
   */
  async between(checkpoint: () => Promise<void>): Promise<void> {
    if (performance.now() - this.polled < pollEvery) return;
    do {
      this.polled = performance.now();
      this.read();
      for (let line = this.dueWithin(); line !== undefined; line = this.dueWithin())
        await this.handle(line, checkpoint, () => undefined, `in step ${this.recorder.step + 1}`);
      if (this.paused) await wait(pollEvery, undefined, { signal: this.signal });
    } while (this.paused);
  }
  /** The line to be answered within a step, while it is paused or on its way to a pause; others wait for the boundary. */
  private dueWithin(): ControlLine | undefined {
    const { waiting } = this;
    if (waiting.some(({ action }) => action === "stop")) throw new Interrupted();
    if (this.paused) {
      if (waiting[0] !== undefined && !withinStep.has(waiting[0].action)) throw new Interrupted();
      return waiting.shift();
    }
    const pause = waiting.findIndex(({ action }) => action === "pause");
    const reached = pause >= 0 && waiting.slice(0, pause).every(({ action }) => withinStep.has(action));
    return reached ? waiting.shift() : undefined;
  }

  /**
   * At a step boundary: answers every line, in order, and waits while the run is paused.
   * @param checkpoint writes one now
   * @param change sets a value for the rest of the run
   * @returns `stop` when the run is to end here
   */
  async obey(checkpoint: () => Promise<void>, change: Change): Promise<"go" | "stop"> {
    for (;;) {
      this.read();
      for (let line = this.waiting.shift(); line !== undefined; line = this.waiting.shift())
        if ((await this.handle(line, checkpoint, change)) === "stop") return "stop";
      if (!this.paused) return "go";
      await wait(pollEvery, undefined, { signal: this.signal });
    }
  }
  private async handle(
    line: ControlLine,
    checkpoint: () => Promise<void>,
    change: Change,
    place = `after step ${this.recorder.step}`,
  ): Promise<"go" | "stop"> {
    const was = this.paused;
    const next = await this.answer(line, was, checkpoint, change, place);
    if (next === "stop") return "stop";
    this.paused = next === "paused";
    if (this.paused !== was)
      this.recorder.event(
        "info",
        this.paused ? "paused" : "continued",
        this.paused ? "The run is paused." : "The run goes on.",
      );
    this.recorder.commit();
    return "go";
  }

  private async answer(
    line: ControlLine,
    paused: boolean,
    checkpoint: () => Promise<void>,
    change: Change,
    place: string,
  ): Promise<"stop" | "paused" | "running"> {
    const here = `after step ${this.recorder.step}`;
    switch (line.action) {
      case "stop":
        this.recorder.acknowledge(line.id, true, `Stopping ${here}.`);
        if (line.reason !== undefined) this.recorder.event("info", stoppedEarly, line.reason);
        return "stop";
      case "pause":
        this.recorder.acknowledge(line.id, true, paused ? "It is paused already." : `Paused ${place}.`);
        return "paused";
      case "continue":
        this.recorder.acknowledge(line.id, paused, paused ? "Going on." : "The run is not paused.");
        return "running";
      case "checkpoint":
        await checkpoint();
        this.recorder.acknowledge(line.id, true, `Checkpoint written ${here}.`);
        return paused ? "paused" : "running";
      case "set":
        this.set(line, change);
        return paused ? "paused" : "running";
    }
  }

  /** The event carries the id: whoever asked finds the answer by it. */
  private set({ id, path, value }: SetLine, change: Change): void {
    const refusal = change({ path, value });
    const { step } = this.recorder;
    const message =
      refusal ?? `${path} is ${JSON.stringify(value)} from step ${step + 1} on, also after a resume.`;
    this.recorder.acknowledge(id, refusal === undefined, message);
    const data = { id, path, value };
    if (refusal === undefined) this.recorder.event("info", "set", message, { data });
    else
      this.recorder.event("warning", "set-refused", message, {
        data,
        action: "Nothing was changed; the run goes on.",
      });
  }
}
