/**
 * Requests on their way through the policy. Those that choose tokens alike share one feed and its lanes; a further turn of a
 * conversation goes on where an earlier one ended. New weights serve the requests that come after them: those in flight are
 * written to their ends by the weights that they began with.
 */
import type { DecodeOptions, Prompt, Sample } from "../core/policy.ts";
import { PromptQueue } from "../core/promptQueue.ts";
import { commonPrefix } from "../core/rows/commonPrefix.ts";
import type { TrainablePolicy } from "../engine/index.ts";

/** What all requests of a feed have in common. */
export type Choosing = Pick<
  DecodeOptions,
  "top_k" | "top_p" | "min_p" | "repetition_penalty" | "presence_penalty" | "frequency_penalty" | "min_tokens"
> & { readonly logit_bias?: Readonly<Record<string, number>> | undefined };

export interface Asked {
  /** At least one, and fewer than the context. */
  readonly tokens: Int32Array;
  readonly n: number;
  readonly max_tokens: number;
  readonly temperature: number;
  readonly stop: readonly string[];
  /** The same seed draws the same answers to the same prompt; without one every request draws others. */
  readonly seed?: number | undefined;
  readonly choosing: Choosing;
  readonly signal: AbortSignal;
  /** Called with every token of every choice as it is written. */
  readonly onToken?: ((choice: number, token: number, logp: number) => void) | undefined;
}
/** A request that was taken: the weights that write it, and its choices in order. */
export interface Writing {
  readonly version: number;
  readonly samples: Promise<readonly Sample[]>;
}

interface Waiting {
  readonly resolve: (sample: Sample) => void;
  readonly reject: (error: unknown) => void;
  readonly onToken: ((token: number, logp: number) => void) | undefined;
  readonly tokens: Int32Array;
}
/** A finished answer that a next turn may go on from. */
interface Finished {
  readonly index: number;
  /** Tokens of its prompt. */
  readonly prompt: number;
  readonly row: Int32Array;
}

/** Finished answers that are remembered in a feed. */
const REMEMBERED = 256;
/** Milliseconds for which a request waits for others, so that their prompts are read in one run. */
const GATHER = 4;
/** Feeds that stay open without a request; each keeps caches. */
const OPEN_FEEDS = 3;

/** Requests that choose alike, under one version of the weights. */
class Feed {
  readonly queue = new PromptQueue();
  private readonly waiting = new Map<number, Waiting>();
  private readonly finished: Finished[] = [];
  /** What comes in within a moment goes in together. */
  private gathered: (() => void)[] = [];
  used = 0;

  constructor(
    readonly version: number,
    generate: (feed: Feed) => AsyncIterable<Sample>,
    ended: (feed: Feed) => void,
  ) {
    void this.run(generate).finally(() => ended(this));
  }
  get idle(): boolean {
    return this.waiting.size === 0 && this.gathered.length === 0;
  }
  add(prompt: Prompt, onToken: Waiting["onToken"]): Promise<Sample> {
    const after = this.earlier(prompt.tokens);
    return new Promise((resolve, reject) => {
      this.gathered.push(() => {
        const index = this.queue.add({ ...prompt, ...(after !== undefined && { after }) });
        this.waiting.set(index, { resolve, reject, onToken, tokens: prompt.tokens });
      });
      if (this.gathered.length === 1) setTimeout(() => this.flush(), GATHER);
    });
  }
  private flush(): void {
    const gathered = this.gathered;
    this.gathered = [];
    for (const add of gathered) add();
  }
  /** No request comes any more; those that came are written to their ends. */
  close(): void {
    this.flush();
    this.queue.close();
  }
  wrote(index: number, token: number, logp: number): void {
    this.waiting.get(index)?.onToken?.(token, logp);
  }
  private async run(generate: (feed: Feed) => AsyncIterable<Sample>): Promise<void> {
    try {
      for await (const sample of generate(this)) this.settle(sample);
    } catch (error) {
      // What waits to go in is refused as well: the next request opens another feed.
      this.close();
      for (const { reject } of this.waiting.values()) reject(error);
      this.waiting.clear();
    }
  }
  private settle(sample: Sample): void {
    const asked = this.waiting.get(sample.index);
    if (asked === undefined) return;
    this.waiting.delete(sample.index);
    const row = new Int32Array(asked.tokens.length + sample.tokens.length);
    row.set(asked.tokens);
    row.set(sample.tokens, asked.tokens.length);
    this.finished.push({ index: sample.index, prompt: asked.tokens.length, row });
    if (this.finished.length > REMEMBERED) this.finished.shift();
    asked.resolve(sample);
  }
  /** The answer that a prompt goes on from: it begins with that answer's prompt, and with as much of the answer as any. */
  private earlier(tokens: Int32Array): number | undefined {
    let best: Finished | undefined;
    let most = 0;
    for (const one of this.finished) {
      const held = commonPrefix(one.row, tokens);
      if (held <= one.prompt || held <= most) continue;
      [best, most] = [one, held];
    }
    if (best !== undefined) this.finished.splice(this.finished.indexOf(best), 1);
    return best?.index;
  }
}

export class Writer {
  private readonly feeds = new Map<string, Feed>();
  /** Feeds with a request, those of earlier weights included. */
  private readonly live = new Set<Feed>();
  private readonly awaited = new Set<() => void>();
  private requests = 0;
  private uses = 0;

  constructor(
    readonly policy: TrainablePolicy,
    private readonly options: { readonly seed: number; readonly lanes: number },
  ) {}

  get version(): number {
    return this.policy.version;
  }

  ask(asked: Asked): Writing {
    const feed = this.feedOf(asked.choosing);
    const number = this.requests++;
    const { tokens, max_tokens, temperature, stop, signal, seed } = asked;
    const one = (choice: number): Promise<Sample> =>
      feed.add(
        {
          tokens,
          max_tokens,
          temperature,
          stop,
          signal,
          key: seed === undefined ? ["serve", number, choice] : ["serve", choice],
          ...(seed !== undefined && { seed }),
        },
        asked.onToken && ((token, logp) => asked.onToken?.(choice, token, logp)),
      );
    return {
      version: feed.version,
      samples: Promise.all(Array.from({ length: asked.n }, (_, choice) => one(choice))),
    };
  }

  /** Weights for the requests that come from now on. @throws UserError where they are of another model */
  adopt(weights: Readonly<Record<string, Float32Array>>, version: number): void {
    this.policy.adopt(weights, version);
    for (const look of this.awaited) look();
    for (const feed of this.feeds.values()) feed.close();
    this.feeds.clear();
  }

  /**
   * Resolves once these weights or newer ones write, or when nobody waits any more.
   * @param only these: newer ones may be of a run that was resumed further back
   */
  reached(version: number, signal: AbortSignal, only = false): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        const here = only ? this.version === version : this.version >= version;
        if (!here && !signal.aborted) return;
        this.awaited.delete(look);
        resolve();
      };
      this.awaited.add(look);
      signal.addEventListener("abort", look, { once: true });
      look();
    });
  }

  private feedOf(choosing: Choosing): Feed {
    const key = JSON.stringify(Object.entries(choosing).sort(([a], [b]) => (a < b ? -1 : 1)));
    const known = this.feeds.get(key);
    if (known?.queue.open === true) {
      known.used = ++this.uses;
      return known;
    }
    this.closeIdle();
    const feed = new Feed(
      this.policy.version,
      (of) => this.policy.generate(of.queue, this.decodeOf(choosing, of)),
      (of) => this.live.delete(of),
    );
    feed.used = ++this.uses;
    this.feeds.set(key, feed);
    this.live.add(feed);
    return feed;
  }
  private closeIdle(): void {
    const idle = [...this.feeds].filter(([, feed]) => feed.idle).sort(([, a], [, b]) => a.used - b.used);
    for (const [key, feed] of idle.slice(0, Math.max(0, this.feeds.size + 1 - OPEN_FEEDS))) {
      feed.close();
      this.feeds.delete(key);
    }
  }
  private decodeOf({ logit_bias, ...choosing }: Choosing, feed: Feed): DecodeOptions {
    return {
      ...choosing,
      ...(logit_bias !== undefined && {
        logit_bias: new Map(Object.entries(logit_bias).map(([token, by]) => [Number(token), by])),
      }),
      max_tokens: this.policy.context,
      temperature: 1,
      seed: this.options.seed,
      lanes: this.options.lanes,
      on_token: (index, token, logp) => feed.wrote(index, token, logp),
    };
  }

  /** Ends every feed; requests in flight are written to their ends first. */
  async close(): Promise<void> {
    for (const feed of this.live) feed.close();
    while (this.live.size > 0) await new Promise(setImmediate);
  }
}
