/**
 * A language model small enough to differentiate by hand: the next token's logits are a table row chosen by the
 * token before it. Deterministic, float64, one optimiser (plain gradient descent). It is a real implementation of
 * `Policy`, so what runs on it runs the seams; only the network is a toy.
 */
import { randomStream } from "../../server/lib/random.ts";
import type { Angles, Pooling, Questioned } from "../../server/core/states.ts";
import type { Model } from "../../server/core/basics.ts";
import type { Batch } from "../../server/core/rollouts.ts";
import {
  isFeed,
  type Channel,
  type DecodeOptions,
  type Models,
  type Policy,
  type Prompt,
  type PromptFeed,
  type Sample,
  type Stats,
  type Tokenizer,
  type UpdatePlan,
  type UpdateStats,
  type Weigh,
} from "../../server/core/policy.ts";

/** Logits `[state][token]`; heads named `q…` have a value for each (state, token), other heads one for each state. */
interface Weights {
  readonly logits: Float64Array;
  readonly heads: ReadonlyMap<string, Float64Array>;
}
const copy = (weights: Weights): Weights => ({
  logits: weights.logits.slice(),
  heads: new Map([...weights.heads].map(([name, head]) => [name, head.slice()])),
});

export const alphabet = "0123456789+-*=() abcdefghijklmnopqrstuvwxyz";
export const fakeTokenizer: Tokenizer = {
  size: alphabet.length + 2,
  eos: alphabet.length,
  pad: alphabet.length + 1,
  encode: (text) => Int32Array.from([...text], (character) => Math.max(0, alphabet.indexOf(character))),
  decode: (tokens) => Array.from(tokens, (token) => alphabet[token] ?? "").join(""),
};

export interface FakeOptions {
  readonly seed?: number;
  readonly lr?: number;
  readonly size?: number;
  readonly heads?: readonly string[];
  /** Names of further models that train, each with its own start. */
  readonly models?: readonly Model[];
}

/** The registry of a fake run: `policy` and whatever else was asked for. */
export class FakeModels implements Models {
  readonly weights = new Map<Model, Weights>();
  readonly versions = new Map<Model, number>();
  readonly size: number;
  readonly lr: number;

  constructor(options: FakeOptions = {}) {
    this.size = options.size ?? fakeTokenizer.size;
    this.lr = options.lr ?? 0.1;
    for (const name of ["policy", ...(options.models ?? [])]) {
      const random = randomStream(options.seed ?? 1, name);
      const table = (length: number): Float64Array =>
        Float64Array.from({ length }, () => random.next() * 2 - 1);
      const heads = (options.heads ?? []).map(
        (head) => [head, table(head.startsWith("q") ? this.size ** 2 : this.size)] as const,
      );
      this.weights.set(name, { logits: table(this.size ** 2), heads: new Map(heads) });
      this.versions.set(name, 0);
    }
  }

  get names(): readonly Model[] {
    return [...this.weights.keys()];
  }
  get(name: Model): FakePolicy {
    return new FakePolicy(this, name);
  }
  perceptron(name: Model): never {
    throw new Error(`a fake run has no perceptron ${name}`);
  }
  of(name: Model): Weights {
    const weights = this.weights.get(name);
    if (weights === undefined)
      throw new Error(`no model is called ${name}; there are ${this.names.join(", ")}`);
    return weights;
  }
}

/** Softmax of one table row: probabilities and the log of the normaliser. */
function distribution(
  logits: Float64Array,
  temperature = 1,
): { probabilities: Float64Array; logsumexp: number } {
  const scaled = logits.map((logit) => logit / temperature);
  const top = Math.max(...scaled);
  const total = scaled.reduce((sum, logit) => sum + Math.exp(logit - top), 0);
  return {
    probabilities: scaled.map((logit) => Math.exp(logit - top) / total),
    logsumexp: top + Math.log(total),
  };
}

/** The token before each token of the batch, under the context the row trains in. */
function states(batch: Batch): Int32Array {
  const context = batch.trainContext ?? batch.context;
  return Int32Array.from(batch.tokens, (_, t) => {
    const row = batch.offsets.findIndex((end, i) => i > 0 && t < end) - 1;
    return t > batch.offsets[row]!
      ? batch.tokens[t - 1]!
      : (context.values[context.offsets[row + 1]! - 1] ?? 0);
  });
}

export class FakePolicy implements Policy {
  readonly tokenizer = fakeTokenizer;
  readonly context = 128;

  constructor(
    private readonly models: FakeModels,
    private readonly name: Model,
  ) {}

  get version(): number {
    return this.models.versions.get(this.name) ?? 0;
  }

  private row(weights: Weights, state: number): Float64Array {
    return weights.logits.subarray(state * this.models.size, (state + 1) * this.models.size);
  }

  async *generate(prompts: readonly Prompt[] | PromptFeed, decode: DecodeOptions): AsyncIterable<Sample> {
    if (isFeed(prompts)) return yield* this.generateFed(prompts, decode);
    for (const [index, prompt] of prompts.entries()) {
      decode.signal?.throwIfAborted();
      yield await Promise.resolve(this.write(prompt, index, decode));
      await decode.between?.();
    }
  }

  private async *generateFed(feed: PromptFeed, decode: DecodeOptions): AsyncIterable<Sample> {
    for (let taken = 0; ;) {
      const prompts = feed.take();
      for await (const sample of this.generate(prompts, decode))
        yield { ...sample, index: taken + sample.index };
      taken += prompts.length;
      if (prompts.length > 0) continue;
      if (!feed.open) return;
      await feed.next();
    }
  }

  private write(prompt: Prompt, index: number, decode: DecodeOptions): Sample {
    const weights = this.models.of(decode.model ?? this.name);
    const random = randomStream(decode.seed, "decode", ...prompt.key);
    const written: { token: number; logp: number; sampled: number; entropy: number }[] = [];
    let state = prompt.prefix?.at(-1) ?? prompt.tokens.at(-1) ?? 0;
    while (written.length < decode.max_tokens && written.at(-1)?.token !== this.tokenizer.eos) {
      const step = this.choose(this.row(weights, state), decode.temperature, random.next());
      written.push(step);
      state = step.token;
    }
    return {
      index,
      tokens: Int32Array.from(written, (step) => step.token),
      logp_old: Float64Array.from(written, (step) => step.logp),
      logp_sampled: Float64Array.from(written, (step) => step.sampled),
      entropy: Float64Array.from(written, (step) => step.entropy),
      versions: new Int32Array(written.length).fill(this.version),
      finish: state === this.tokenizer.eos ? "stop" : "length",
    };
  }

  private choose(
    logits: Float64Array,
    temperature: number,
    u: number,
  ): { token: number; logp: number; sampled: number; entropy: number } {
    const { probabilities } = distribution(logits);
    const drawn =
      temperature === 0
        ? probabilities.map((p) => (p === Math.max(...probabilities) ? 1 : 0))
        : distribution(logits, temperature).probabilities;
    let token = 0;
    for (let left = u; token < drawn.length - 1 && left >= drawn[token]!; token++) left -= drawn[token]!;
    return {
      token,
      logp: Math.log(probabilities[token]!),
      sampled: Math.log(drawn[token]!),
      entropy: entropyOf(probabilities),
    };
  }

  score(batch: Batch, ask: { readonly model: Model; readonly channels: readonly Channel[] }): Promise<Stats> {
    return Promise.resolve(this.stats(batch, this.models.of(ask.model), ask.channels));
  }

  embed(
    texts: readonly Int32Array[],
    pooling: Pooling,
    model: Model = this.name,
  ): Promise<readonly Float32Array[]> {
    const weights = this.models.of(model);
    const mean = (tokens: Int32Array): Float32Array =>
      new Float32Array(this.models.size).map(
        (_, i) => tokens.reduce((sum, token) => sum + this.row(weights, token)[i]!, 0) / tokens.length,
      );
    return Promise.resolve(texts.map((tokens) => mean(pooling === "last" ? tokens.slice(-1) : tokens)));
  }

  nextLogits(texts: readonly Int32Array[], model: Model = this.name): Promise<readonly Float32Array[]> {
    return this.embed(texts, "last", model);
  }

  /** A token's state is the row of logits after it. */
  angles(prompts: readonly Questioned[], model: Model = this.name): Promise<Angles> {
    const weights = this.models.of(model);
    const means = ({ tokens, from, to }: Questioned): { intra: number; inter: number } => {
      const states = Array.from(tokens, (token) => this.row(weights, token));
      const pairs = (a: readonly Float64Array[], b: readonly Float64Array[]): number =>
        a.length * b.length === 0
          ? 0
          : a.flatMap((x) => b.map((y) => cosine(x, y))).reduce((sum, c) => sum + c, 0) /
            (a.length * b.length);
      const question = states.slice(from, to);
      return { intra: pairs(question, question), inter: pairs(question, states.slice(0, from)) };
    };
    const found = prompts.map(means);
    return Promise.resolve({
      intra: Float64Array.from(found, ({ intra }) => intra),
      inter: Float64Array.from(found, ({ inter }) => inter),
    });
  }

  private stats(batch: Batch, weights: Weights, channels: readonly Channel[]): Stats {
    const before = states(batch);
    const column = (channel: Channel): Float64Array =>
      Float64Array.from(batch.tokens, (token, t) => this.value(weights, channel, before[t]!, token));
    return Object.fromEntries(channels.map((channel) => [channel, column(channel)]));
  }

  private value(weights: Weights, channel: Channel, state: number, token: number): number {
    if (channel.startsWith("head:")) return this.head(weights, channel.slice(5), state, token);
    if (channel.startsWith("logp:"))
      return this.value(this.models.of(channel.slice(5)), "logp", state, token);
    const { probabilities, logsumexp } = distribution(this.row(weights, state));
    if (channel === "logp") return Math.log(probabilities[token]!);
    if (channel === "entropy") return entropyOf(probabilities);
    if (channel === "logsumexp") return logsumexp;
    if (channel === "mean_logp")
      return this.row(weights, state).reduce((sum, logit) => sum + logit, 0) / this.models.size - logsumexp;
    if (channel === "sum_pi_squared") return probabilities.reduce((sum, p) => sum + p * p, 0);
    throw new Error(`the fake policy has no channel ${channel}`);
  }

  private head(weights: Weights, name: string, state: number, token: number): number {
    const head = weights.heads.get(name);
    if (head === undefined) throw new Error(`the fake policy has no head ${name}`);
    return head[name.startsWith("q") ? state * this.models.size + token : state]!;
  }

  update(batch: Batch, plan: UpdatePlan, weigh: Weigh): Promise<UpdateStats> {
    const weights = this.models.of(this.name);
    const weighed = weigh(this.stats(batch, weights, plan.channels), batch);
    const slope = this.slope(batch, weights, weighed.gradients);
    const rate = this.models.lr * (plan.lr_scale ?? 1);
    const tables: [Float64Array, Float64Array][] = [
      [weights.logits, slope.logits],
      ...[...slope.heads].map(([name, table]): [Float64Array, Float64Array] => [
        weights.heads.get(name)!,
        table,
      ]),
    ];
    for (const [table, gradient] of tables) table.forEach((_, i) => (table[i]! -= rate * gradient[i]!));
    this.models.versions.set(this.name, this.version + 1);
    const norm = Math.sqrt(
      tables.reduce((sum, [, gradient]) => sum + gradient.reduce((s, g) => s + g * g, 0), 0),
    );
    const tokens = batch.mask.reduce((sum, m) => sum + m, 0);
    return Promise.resolve({
      loss: weighed.loss,
      grad_norm: norm,
      lr: rate,
      tokens,
      metrics: weighed.metrics ?? {},
      mode: plan.fresh === true ? "fused" : "recompute",
    });
  }

  /** Σ_t c_t · ∂channel_t/∂weights, for the channels `logp`, `entropy`, `logsumexp` and heads. */
  private slope(
    batch: Batch,
    weights: Weights,
    gradients: Readonly<Partial<Record<Channel, Float64Array>>>,
  ): Weights {
    const before = states(batch);
    const into: Weights = {
      logits: new Float64Array(weights.logits.length),
      heads: new Map([...weights.heads].map(([name, head]) => [name, new Float64Array(head.length)])),
    };
    for (const [channel, column] of Object.entries(gradients)) {
      batch.tokens.forEach((token, t) => {
        const [state, c] = [before[t]!, column?.[t] ?? 0];
        if (c === 0) return;
        if (channel.startsWith("head:")) {
          const name = channel.slice(5);
          into.heads.get(name)![name.startsWith("q") ? state * this.models.size + token : state]! += c;
        } else this.logitSlope(channel, weights, into.logits, state, token, c);
      });
    }
    return into;
  }

  private logitSlope(
    channel: string,
    weights: Weights,
    into: Float64Array,
    state: number,
    token: number,
    c: number,
  ): void {
    const { probabilities } = distribution(this.row(weights, state));
    const entropy = entropyOf(probabilities);
    probabilities.forEach((p, j) => {
      const slope =
        channel === "logp"
          ? (j === token ? 1 : 0) - p
          : channel === "entropy"
            ? -p * (Math.log(p) + entropy)
            : channel === "logsumexp"
              ? p
              : Number.NaN;
      if (Number.isNaN(slope)) throw new Error(`the fake policy has no gradient by ${channel}`);
      into[state * this.models.size + j]! += c * slope;
    });
  }

  snapshot(name: Model, decay?: number): Promise<void> {
    const now = this.models.of(this.name);
    const then = this.models.weights.get(name);
    if (decay === undefined || then === undefined) this.models.weights.set(name, copy(now));
    else {
      then.logits.forEach(
        (_, i) => (then.logits[i] = decay * then.logits[i]! + (1 - decay) * now.logits[i]!),
      );
      for (const [head, table] of then.heads)
        table.forEach((_, i) => (table[i] = decay * table[i]! + (1 - decay) * now.heads.get(head)![i]!));
    }
    return Promise.resolve();
  }
}

const cosine = (x: Float64Array, y: Float64Array): number =>
  x.reduce((sum, value, i) => sum + value * y[i]!, 0) / (Math.hypot(...x) * Math.hypot(...y));
const entropyOf = (probabilities: Float64Array): number =>
  probabilities.reduce((sum, p) => (p > 0 ? sum - p * Math.log(p) : sum), 0);
