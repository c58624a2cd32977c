/** Calls of the policy that a harness made, as `gradus serve` captured them, and the episode that they are. */
import { z } from "zod";
import type { Turn } from "../../core/slots/turn.ts";
import type { Lead } from "../../core/slots/guidance.ts";
import type { Sample, Tokenizer } from "../../core/policy.ts";
import { responseText } from "../../core/rows/ends.ts";
import { commonPrefix } from "../../core/rows/commonPrefix.ts";

const number = z.union([z.number(), z.null().transform(() => Number.NaN)]);

const callSchema = z.looseObject({
  prompt_tokens: z.array(z.number()),
  tokens: z.array(z.number()),
  logp_old: z.array(number),
  logp_sampled: z.array(number),
  entropy: z.array(number),
  versions: z.array(z.number()),
  finish: z.enum(["stop", "length", "error"]),
});
export type CapturedCall = z.output<typeof callSchema>;
export const capturedSchema = z.looseObject({ captured: z.array(callSchema) });

/** Calls that go on from one another: one row of tokens. */
export interface Conversation {
  /** What the first call was asked with. */
  readonly context: Int32Array;
  readonly parts: readonly Lead[];
  readonly turns: readonly Turn[];
  /** What the last call wrote. */
  readonly sample: Sample;
}

const sampleOf = (call: CapturedCall): Sample => ({
  index: 0,
  tokens: Int32Array.from(call.tokens),
  logp_old: Float64Array.from(call.logp_old),
  logp_sampled: Float64Array.from(call.logp_sampled),
  entropy: Float64Array.from(call.entropy),
  versions: Int32Array.from(call.versions),
  finish: call.finish,
});

/** What a prompt says after some tokens; undefined: it does not begin with them. */
function after(prompt: readonly number[], tokens: readonly number[]): Int32Array | undefined {
  if (commonPrefix(tokens, prompt) < tokens.length) return undefined;
  return Int32Array.from(prompt.slice(tokens.length));
}

class Writing {
  private readonly parts: Lead[] = [];
  private readonly turns: Turn[] = [];
  private sample: Sample;
  /** All tokens so far, those of the context included. */
  readonly tokens: number[];
  private readonly context: Int32Array;

  constructor(
    first: CapturedCall,
    private readonly tokenizer: Tokenizer,
  ) {
    this.context = Int32Array.from(first.prompt_tokens);
    this.tokens = [...first.prompt_tokens];
    this.sample = this.wrote(first);
  }

  private get length(): number {
    return this.tokens.length - this.context.length;
  }
  private wrote(call: CapturedCall): Sample {
    const sample = sampleOf(call);
    const start = this.length;
    this.tokens.push(...call.tokens);
    const text = responseText(sample.tokens, this.tokenizer);
    this.turns.push({ role: "assistant", start, end: this.length, text, finish: call.finish });
    return sample;
  }

  /** false: the call does not go on from here. */
  goesOn(call: CapturedCall): boolean {
    const said = after(call.prompt_tokens, this.tokens);
    if (said === undefined) return false;
    const start = this.length;
    this.tokens.push(...said);
    this.parts.push({ kind: "own", sample: this.sample }, { kind: "observed", tokens: said });
    const text = this.tokenizer.decode(said).trim();
    this.turns.push({ role: "user", start, end: this.length, text });
    this.sample = this.wrote(call);
    return true;
  }

  get conversation(): Conversation {
    const { context, parts, turns, sample } = this;
    return { context, parts, turns, sample };
  }
}

/**
 * The conversations of a session, in the order of their first calls. A call goes on from the longest of those that its
 * prompt begins with: a harness may hold several at once (a sub-agent, a summary), and one that writes its history anew
 * begins another.
 */
export function conversationsOf(
  calls: readonly CapturedCall[],
  tokenizer: Tokenizer,
): readonly Conversation[] {
  const open: Writing[] = [];
  for (const call of calls) {
    const longest = [...open].sort((a, b) => b.tokens.length - a.tokens.length);
    if (!longest.some((one) => one.goesOn(call))) open.push(new Writing(call, tokenizer));
  }
  return open.map(({ conversation }) => conversation);
}
