/** The turns of episodes as prompts, each as soon as it can be written. */
import type { DecodeOptions, Prompt, PromptFeed } from "../../../core/policy.ts";
import { PromptQueue } from "../../../core/promptQueue.ts";

/** Milliseconds between two looks at what the run was asked, while every episode waits for an answer. */
const lookEvery = 100;

/** `Owner`: whose turn a prompt is. */
export class EpisodeFeed<Owner> implements PromptFeed {
  private readonly queue = new PromptQueue();
  private readonly owners: Owner[] = [];

  /** @param playing episodes that have not ended */
  constructor(
    private playing: number,
    private readonly decode: Pick<DecodeOptions, "signal" | "between">,
  ) {
    if (playing === 0) this.queue.close();
  }

  get open(): boolean {
    return this.queue.open;
  }

  add(prompt: Prompt, owner: Owner): void {
    this.owners[this.queue.add(prompt)] = owner;
  }
  /** An episode has ended. */
  ended(): void {
    this.playing -= 1;
    if (this.playing === 0) this.queue.close();
  }
  /** Ends the generation with an error. */
  fail(error: unknown): void {
    this.queue.fail(error);
  }

  take(): readonly Prompt[] {
    return this.queue.take();
  }
  /** Whose turn a sample is, by its index. */
  ownerOf(index: number): Owner {
    return this.owners[index]!;
  }

  async next(): Promise<void> {
    while (this.queue.isWaiting) {
      await this.queue.next(lookEvery);
      this.decode.signal?.throwIfAborted();
      // No token is written meanwhile: a pause or a stop is noticed here.
      if (this.queue.isWaiting) await this.decode.between?.();
    }
  }
}
