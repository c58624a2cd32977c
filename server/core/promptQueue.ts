/** A feed of prompts that anyone adds to. */
import type { Prompt, PromptFeed } from "./policy.ts";

export class PromptQueue implements PromptFeed {
  open = true;
  private waiting: Prompt[] = [];
  private added = 0;
  private failure: { readonly error: unknown } | undefined;
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
  /** Ends the generation with an error. */
  fail(error: unknown): void {
    this.failure ??= { error };
    this.wake();
  }
  /** @throws what it failed with */
  take(): readonly Prompt[] {
    this.throwIfFailed();
    const taken = this.waiting;
    this.waiting = [];
    return taken;
  }
  /** Whether it waits for a prompt. */
  get isWaiting(): boolean {
    return this.waiting.length === 0 && this.open;
  }
  /** @param most milliseconds, after which it resolves without a prompt @throws what it failed with */
  async next(most?: number): Promise<void> {
    if (!this.isWaiting) return;
    if (this.failure === undefined)
      await new Promise<void>((resolve) => {
        const timer = most === undefined ? undefined : setTimeout(resolve, most);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.throwIfFailed();
  }
  private throwIfFailed(): void {
    if (this.failure !== undefined) throw this.failure.error;
  }
}
