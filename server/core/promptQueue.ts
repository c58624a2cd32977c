/** A feed of prompts that anyone adds to. */
import type { Prompt, PromptFeed } from "./policy.ts";

export class PromptQueue implements PromptFeed {
  open = true;
  private waiting: Prompt[] = [];
  private added = 0;
  private wake: () => void = () => undefined;

  /** @param most most prompts that are written at once, where that is known */
  constructor(readonly most = Infinity) {}

  /** The index of its sample. @throws Error once the queue is closed */
  add(prompt: Prompt): number {
    if (!this.open) throw new Error("internal: a prompt was added to a closed queue");
    this.waiting.push(prompt);
    this.wake();
    return this.added++;
  }
  /** No prompt comes any more. */
  close(): void {
    this.open = false;
    this.wake();
  }
  take(): readonly Prompt[] {
    const taken = this.waiting;
    this.waiting = [];
    return taken;
  }
  next(): Promise<void> {
    if (this.waiting.length > 0 || !this.open) return Promise.resolve();
    return new Promise((resolve) => (this.wake = resolve));
  }
}
