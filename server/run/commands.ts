/** What is done about the lines of `control.jsonl`, and how each is answered. */
import { setTimeout as wait } from "node:timers/promises";
import type { ControlLine } from "../../shared/run.ts";
import type { Control } from "./control.ts";
import type { Recorder } from "./recorder.ts";

const pollEvery = 100;

type SetLine = Extract<ControlLine, { action: "set" }>;
/** Sets a value; undefined, or why it is refused. */
export type Change = (line: Pick<SetLine, "path" | "value">) => string | undefined;

export class Commands {
  private waiting: ControlLine[] = [];
  private polled = 0;

  constructor(
    private readonly control: Control,
    private readonly recorder: Recorder,
    private readonly signal: AbortSignal,
  ) {}

  private read(): void {
    const { lines, unreadable } = this.control.read();
    this.waiting.push(...lines);
    for (const { id, text } of unreadable) {
      const message = `This line of control.jsonl is not understood: ${text.slice(0, 200)}`;
      this.recorder.event("warning", "control-unreadable", message, {
        action:
          "Write one JSON object a line: id and action (stop, pause, continue, checkpoint, or set with path and value).",
      });
      if (id !== null) this.recorder.acknowledge(id, false, message);
    }
  }

  /** Between decode runs: whether a stop is asked for, so that a step not yet trained on need not be finished. */
  stopAsked(): boolean {
    if (performance.now() - this.polled < pollEvery) return false;
    this.polled = performance.now();
    this.read();
    return this.waiting.some((line) => line.action === "stop");
  }

  /**
   * At a step boundary: answers every line, in order, and waits while the run is paused.
   * @param checkpoint writes one now
   * @param change sets a value for the rest of the run
   * @returns `stop` when the run is to end here
   */
  async obey(checkpoint: () => Promise<void>, change: Change): Promise<"go" | "stop"> {
    this.read();
    let paused = false;
    for (;;) {
      for (let line = this.waiting.shift(); line !== undefined; line = this.waiting.shift()) {
        const was: boolean = paused;
        const next = await this.answer(line, paused, checkpoint, change);
        if (next === "stop") return "stop";
        paused = next === "paused";
        if (paused !== was)
          this.recorder.event(
            "info",
            paused ? "paused" : "continued",
            paused ? "The run is paused." : "The run goes on.",
          );
        this.recorder.commit();
      }
      if (!paused) return "go";
      await wait(pollEvery, undefined, { signal: this.signal });
      this.read();
    }
  }

  private async answer(
    line: ControlLine,
    paused: boolean,
    checkpoint: () => Promise<void>,
    change: Change,
  ): Promise<"stop" | "paused" | "running"> {
    const here = `after step ${this.recorder.step}`;
    switch (line.action) {
      case "stop":
        this.recorder.acknowledge(line.id, true, `Stopping ${here}.`);
        return "stop";
      case "pause":
        this.recorder.acknowledge(line.id, true, paused ? "It is paused already." : `Paused ${here}.`);
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
