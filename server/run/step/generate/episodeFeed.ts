/** The turns of episodes as prompts, each as soon as it can be written. */
import type { DecodeOptions, Prompt, PromptFeed } from "../../../core/policy.ts";

/** Milliseconds between two looks at what the run was asked, while every episode waits for an answer. */
const lookEvery = 100;

/** `Owner`: whose turn a prompt is. */
export class EpisodeFeed<Owner> implements PromptFeed {
  private waiting: { readonly prompt: Prompt; readonly owner: Owner }[] = [];
  private readonly taken: Owner[] = [];
  private failure: { readonly error: unknown } | undefined;
  private wake: () => void = () => undefined;

  /** @param playing episodes that have not ended */
  constructor(
    private playing: number,
    private readonly decode: Pick<DecodeOptions, "signal" | "between">,
  ) {}

  get open(): boolean {
    return this.playing > 0;
  }

  add(prompt: Prompt, owner: Owner): void {
    this.waiting.push({ prompt, owner });
    this.wake();
  }
  /** An episode has ended. */
  ended(): void {
    this.playing -= 1;
    this.wake();
  }
  /** Ends the generation with an error. */
  fail(error: unknown): void {
    this.failure ??= { error };
    this.wake();
  }

  take(): readonly Prompt[] {
    this.throwIfFailed();
    const now = this.waiting;
    this.waiting = [];
    this.taken.push(...now.map(({ owner }) => owner));
    return now.map(({ prompt }) => prompt);
  }
  /** Whose turn a sample is, by its index. */
  ownerOf(index: number): Owner {
    return this.taken[index]!;
  }

  async next(): Promise<void> {
    while (this.waiting.length === 0 && this.open) {
      await this.something();
      this.throwIfFailed();
      this.decode.signal?.throwIfAborted();
      // No token is written meanwhile: a pause or a stop is noticed here.
      if (this.waiting.length === 0) await this.decode.between?.();
    }
  }
  private something(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, lookEvery);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.failure !== undefined) this.wake();
    });
  }
  private throwIfFailed(): void {
    if (this.failure !== undefined) throw this.failure.error;
  }
}
