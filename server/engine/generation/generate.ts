/**
 * Generation: lanes with a KV cache, one session run a token. Prompts are prefilled once each, as they come. A lane whose
 * response is finished is taken by the next prompt that waits, is kept for the prompt that goes on from there while such
 * may come, and else the live lanes move into smaller caches.
 */
import { isFeed, type DecodeOptions, type Prompt, type PromptFeed, type Sample } from "../../core/policy.ts";
import { Decoder } from "./decoder.ts";
import type { Generator } from "./generator.ts";
import { sampleOf } from "./jobs.ts";
import { checkDecodeOptions } from "./sampling.ts";

/** Lets other work of this thread in: a run blocks it. */
const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Prompts that are all there. */
function listFeed(prompts: readonly Prompt[]): PromptFeed {
  let left = prompts;
  const take = (): readonly Prompt[] => {
    const taken = left;
    left = [];
    return taken;
  };
  return { take, open: false, next: () => Promise.resolve() };
}

/** Waits for prompts, or for what ends the generation. */
async function prompted(feed: PromptFeed, signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  const done = new AbortController();
  const ended = new Promise<void>((resolve) => {
    for (const signal of signals) {
      if (signal?.aborted === true) resolve();
      signal?.addEventListener("abort", () => resolve(), { once: true, signal: done.signal });
    }
  });
  try {
    await Promise.race([feed.next(), ended]);
  } finally {
    done.abort();
  }
}

/**
 * Samples as they finish, in no particular order. A paused generation hands the rest to `decode.pause.keep` and ends; of a
 * feed these are the prompts that it has taken, and `decode.resume` counts prompts in the order in which they are taken.
 * Where every lane is free it waits for the feed, and calls nothing meanwhile.
 *
 * @throws UserError where a prompt leaves no room in the context, an option makes no sense, or a grammar has no way on;
 * the signal's reason when aborted, and whatever `decode.between` throws.
 */
export async function* generate(
  generator: Generator,
  prompts: readonly Prompt[] | PromptFeed,
  decode: DecodeOptions,
): AsyncGenerator<Sample> {
  checkDecodeOptions(decode);
  const feed = isFeed(prompts) ? prompts : listFeed(prompts);
  const { signal, pause } = decode;
  const decoder = new Decoder(generator, feed, decode);
  try {
    for (;;) {
      // Asked before prompts are taken: what is added until it closes is not lost.
      const { open } = feed;
      for (const job of [...decoder.accept(), ...decoder.dropped()]) yield sampleOf(job);
      signal?.throwIfAborted();
      if (decoder.done) {
        if (!open || pause?.signal.aborted === true) return;
        decoder.closeEmpty();
        await prompted(feed, [signal, pause?.signal]);
        continue;
      }
      if (pause?.signal.aborted === true) {
        pause.keep(decoder.rest().map((job) => job.written.partial(job.index)));
        return;
      }
      await decoder.begin();
      for (const job of decoder.step()) yield sampleOf(job);
      await breathe();
      await decode.between?.();
    }
  } finally {
    decoder.free();
  }
}
