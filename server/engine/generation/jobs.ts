/** Prompts on their way to a sample. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { Finish } from "../../core/basics.ts";
import type { DecodeOptions, GrammarState, PartialSample, Prompt, Sample } from "../../core/policy.ts";
import type { Generator } from "./generator.ts";
import { commonPrefix } from "../../core/rows/commonPrefix.ts";
import { Stream } from "../random.ts";
import { checkTemperature } from "./sampling.ts";
import type { StopTexts } from "./stopTexts.ts";
import { ResponseColumns, type Chosen } from "./written.ts";
import type { Tensors } from "../devices/runtime.ts";

export interface Job {
  readonly index: number;
  /** Prompt, prefix, and what a paused generation had written: what the caches hold when it begins. */
  readonly given: Int32Array;
  /** Equal for equal `given`. */
  readonly key: string;
  /** Tokens of prompt and prefix. */
  readonly base: number;
  /** Most tokens of the response. */
  readonly limit: number;
  /** Its own numbers, one a token, whatever else is generated. */
  readonly random: Stream;
  readonly written: ResponseColumns;
  /** Its own, in place of the decoding's. */
  readonly temperature: number | undefined;
  readonly stop: StopTexts;
  /** The sample before it, whose lane it may go on in. */
  readonly after: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** Positions that its lane's caches hold. */
  cached: number;
  /** Steps since it finished, while its lane is kept. */
  parked: number;
  grammar: GrammarState | undefined;
  finish: Finish | undefined;
}

export const isLive = (job: Job | undefined): job is Job & { finish: undefined } =>
  job !== undefined && job.finish === undefined;
/** Tokens of prompt and response, so far. */
export const tokensOf = (job: Job): number => job.base + job.written.count;
/** Prompt and response, so far. */
export const textOf = ({ given, base, written }: Job): Int32Array =>
  Int32Array.from([...given.subarray(0, base), ...written.tail(written.count)]);
/** Where its next input goes: the first position that its caches lack, at most that of its last token. */
export const positionOf = (job: Job): number => Math.min(job.cached, tokensOf(job) - 1);
/** Its next input. Before its last token come those it was given that its lane has not read yet. */
export function inputOf(job: Job): number {
  const position = positionOf(job);
  return position < job.given.length ? job.given[position]! : job.written.last!;
}
/** Tokens that its lane reads before the response goes on. */
export const unreadOf = (job: Job): number => Math.max(0, job.given.length - 1 - job.cached);
/** Tokens of prompt and response when the response is as long as it may be. */
export const longestOf = (job: Job): number => job.base + job.limit;

const tooLong = (index: number, tokens: number, context: number): UserError =>
  new UserError(`Prompt ${index} has ${tokens} tokens, but the model's context is ${context}.`, {
    code: "prompt-too-long",
    action:
      "Shorten the prompts (a dataset leaves long ones out by `max_prompt` with `overlong: filter`), or give the model a longer context (`model.context`).",
  });

/** Behind the tokens that a paused generation had written. */
function grammarAfter(start: GrammarState | undefined, partial: PartialSample | undefined) {
  return partial === undefined
    ? start
    : partial.tokens.reduce<GrammarState | undefined>((state, token) => state?.after(token), start);
}

/**
 * Tokens of a prompt that begins as an earlier job went on, as far as the job's lane holds them. The last one is left, for
 * the response begins with what comes out of it.
 */
export function heldOf(earlier: Job, { given }: Job): number {
  const { base, cached, written } = earlier;
  let held = commonPrefix(given, earlier.given.subarray(0, base));
  if (held === base) held += commonPrefix(given.subarray(base), written.tail(written.count));
  return Math.min(held, cached, given.length - 1);
}

/** @throws UserError where a prompt leaves no room in the context, or its temperature makes no sense */
export function jobOf(
  { context, bos }: Generator,
  prompt: Prompt,
  index: number,
  decode: DecodeOptions,
  stop: StopTexts,
  partial: PartialSample | undefined,
): Job {
  checkTemperature(prompt.temperature ?? 0);
  const start = prompt.tokens.length === 0 ? [bos] : prompt.tokens;
  const base = start.length + (prompt.prefix?.length ?? 0);
  const given = new Int32Array(base + (partial?.tokens.length ?? 0));
  given.set(start);
  given.set(prompt.prefix ?? [], start.length);
  given.set(partial?.tokens ?? [], base);
  if (base >= context) throw tooLong(index, base, context);
  const limit = Math.min(prompt.max_tokens ?? Infinity, decode.max_tokens, context - base);
  const written = new ResponseColumns(partial);
  return {
    index,
    given,
    key: given.join(),
    base,
    limit,
    random: new Stream(prompt.seed ?? decode.seed, "token", ...prompt.key),
    written,
    temperature: prompt.temperature,
    stop,
    after: prompt.after,
    signal: prompt.signal,
    cached: 0,
    parked: 0,
    grammar: grammarAfter(decode.grammar, partial),
    finish: written.count >= limit ? "length" : undefined,
  };
}

/** What ends a response. */
export interface Ending {
  readonly ends: readonly number[];
  readonly min_tokens: number;
}

/** Takes a job one token on. */
export function advance(job: Job, chosen: Chosen, version: number, { ends, min_tokens }: Ending): void {
  const { written, stop } = job;
  written.push(chosen, version);
  if (!Number.isFinite(chosen.logp)) job.finish = "error";
  else if (ends.includes(chosen.token)) job.finish = "stop";
  else if (written.count >= min_tokens && stop.completedBy(chosen.token, written)) job.finish = "stop";
  else if (written.count >= job.limit) job.finish = "length";
  else job.grammar = job.grammar?.after(chosen.token);
}

export const sampleOf = (job: Job): Sample => job.written.sample(job.index, job.finish ?? "length");

/** Caches of `count` prompts, `length` positions each. */
export interface Prefilled {
  readonly caches: Tensors;
  readonly count: number;
  readonly length: number;
  /** By the job's key. */
  readonly rows: ReadonlyMap<string, number>;
}
