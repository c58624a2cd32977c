/** Prompts on their way to a sample. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { Finish } from "../../core/basics.ts";
import type { DecodeOptions, GrammarState, PartialSample, Prompt, Sample } from "../../core/policy.ts";
import type { Generator } from "./generator.ts";
import { Stream } from "../random.ts";
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
  grammar: GrammarState | undefined;
  finish: Finish | undefined;
}

/** Where a job's next input goes: the position of its last token. */
export const positionOf = (job: Job): number => job.base + job.written.count - 1;
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

/** @throws UserError where a prompt leaves no room in the context. */
function jobOf(
  { context, bos }: Generator,
  prompt: Prompt,
  index: number,
  decode: DecodeOptions,
  partial: PartialSample | undefined,
): Job {
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
    random: new Stream(decode.seed, "token", ...prompt.key),
    written,
    grammar: grammarAfter(decode.grammar, partial),
    finish: written.count >= limit ? "length" : undefined,
  };
}

export function jobsOf(generator: Generator, prompts: readonly Prompt[], decode: DecodeOptions): Job[] {
  const partials = new Map(decode.resume?.map((partial) => [partial.index, partial]));
  return prompts.map((prompt, index) => jobOf(generator, prompt, index, decode, partials.get(index)));
}

/** What ends a response. */
export interface Ending {
  readonly ends: readonly number[];
  readonly stop: StopTexts;
  readonly min_tokens: number;
}

/** Takes a job one token on. */
export function advance(job: Job, chosen: Chosen, version: number, { ends, stop, min_tokens }: Ending): void {
  const { written } = job;
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
