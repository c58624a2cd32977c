/**
 * Episodes of several attempts: all that are open write their next attempt at once, then it is said of each whether it
 * goes on. What is said in between is observed: it is part of the row and never trains.
 */
import { hasEnded, responseText } from "../../../core/rows/ends.ts";
import { outcome } from "../../../algorithm/rewards/rewards.ts";
import { randomStream } from "../../../lib/random.ts";
import type { EpisodeShape } from "../../../core/slots/episodes.ts";
import type { Turn } from "../../../core/slots/turn.ts";
import type { Lead } from "../../../core/slots/guidance.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { DecodeOptions, Policy, Prompt, Sample } from "../../../core/policy.ts";
import { assemble, lengthOf, tokensOf, type Draft } from "./assemble.ts";
import { rollOut, sampled, tooLong } from "./generate.ts";
import { asked, replied, type Asking } from "./prompts.ts";

/** What episodes are played with. */
export interface Table {
  readonly policy: Policy;
  readonly decode: DecodeOptions;
  readonly shape: EpisodeShape;
  readonly asking: Asking;
  /** Attempts that an episode may have: drawn, or as many as any. */
  readonly tries: "drawn" | "most";
  /** Whether the last attempt of each row was right; see `outcome`. Asked only where the shape wants to know. */
  readonly judge: (batch: Batch) => Promise<Uint8Array>;
}

class Episode {
  readonly draft: Draft;
  sample: Sample | undefined;
  private readonly tries: number;
  /** Attempts so far. */
  private number = 0;
  private readonly parts: Lead[] = [];
  private readonly turns: Turn[] = [];
  /** Tokens that every attempt begins with. */
  private readonly begin: Int32Array;
  /** The row's first token of the attempt that is next. */
  private start = 0;
  /** Tokens of the row before those that the policy writes next. */
  private length: number;
  private written = 0;
  private cut = false;

  constructor(
    draft: Draft,
    private readonly table: Table,
  ) {
    const { shape, decode } = table;
    const { prompt, help, resumes } = draft;
    const prefix = prompt.prefix ?? new Int32Array(0);
    this.begin = resumes?.begin ?? prefix.slice(0, prefix.length - lengthOf(help?.lead ?? []));
    this.length = prefix.length;
    this.tries =
      resumes?.state.tries ??
      (table.tries === "most" ? shape.most : shape.tries(randomStream(decode.seed, "tries", ...prompt.key)));
    this.draft = this.withQuestion(draft);
    if (resumes !== undefined) this.resume(resumes.state);
  }

  /** The draft, asked what the shape asks first. */
  private withQuestion(draft: Draft): Draft {
    const { shape, policy, asking } = this.table;
    if (shape.ask === undefined) return draft;
    const text = shape.ask(draft.help?.record.prompt ?? draft.task.prompt, this.tries);
    const { tokens } = asked(policy.tokenizer, { ...draft.task, prompt: text }, asking);
    if (tokens.length + this.length >= policy.context)
      throw tooLong(text, tokens.length + this.length, policy.context);
    return { ...draft, prompt: { ...draft.prompt, tokens } };
  }

  private resume({ turns }: NonNullable<Draft["resumes"]>["state"]): void {
    for (const { role, text, tokens, finish } of turns) {
      const own = role === "assistant";
      this.parts.push({ kind: own ? "given" : "observed", tokens });
      this.turns.push({
        role,
        text,
        start: this.length,
        end: this.length + tokens.length,
        ...(finish && { finish }),
      });
      this.length += tokens.length;
      if (own) this.number += 1;
    }
    this.start = this.length;
    this.give(this.begin);
  }

  private give(tokens: Int32Array): void {
    if (tokens.length === 0) return;
    this.parts.push({ kind: "given", tokens });
    this.length += tokens.length;
  }

  get mayGoOn(): boolean {
    return this.number < this.tries && this.left > 0;
  }
  /** Tokens that the next attempt may have. */
  private get left(): number {
    const { shape, decode } = this.table;
    return shape.budget === "attempt" ? decode.max_tokens : decode.max_tokens - this.written;
  }

  /** What the policy goes on from. */
  get prompt(): Prompt {
    const { prompt } = this.draft;
    const first = prompt.prefix ?? new Int32Array(0);
    const prefix = Int32Array.from([first, ...this.parts.map(tokensOf)].flatMap((tokens) => [...tokens]));
    return {
      ...prompt,
      ...(prefix.length > 0 && { prefix }),
      ...(this.left < this.table.decode.max_tokens && { max_tokens: this.left }),
      key: this.number === 0 ? prompt.key : [...prompt.key, "attempt", this.number],
    };
  }

  wrote(sample: Sample): void {
    const { tokenizer } = this.table.policy;
    this.sample = sample;
    this.number += 1;
    this.written += sample.tokens.length;
    const end = this.length + sample.tokens.length;
    // The first attempt begins where the row does, with whatever was given to it.
    const opening = this.number === 1 ? (this.draft.prompt.prefix ?? this.begin) : this.begin;
    const text = responseText(Int32Array.from([...opening, ...sample.tokens]), tokenizer);
    this.turns.push({ role: "assistant", start: this.start, end, text, finish: sample.finish });
    this.length = end;
  }

  /** Adds the shape's reply to the attempt; false: the episode has ended. */
  goesOn(right: boolean | undefined): boolean {
    const { shape, policy, asking } = this.table;
    const { finish, tokens } = this.sample!;
    if (!this.mayGoOn || finish === "error") return false;
    const text = shape.reply({ number: this.number, tries: this.tries, right });
    if (text === undefined) return false;
    const { tokenizer, context } = policy;
    const last = hasEnded(tokens, tokenizer) ? tokens.at(-1) : undefined;
    const said = replied(tokenizer, text, last, asking);
    this.cut = this.draft.prompt.tokens.length + this.length + said.length + this.begin.length >= context;
    if (this.cut) return false;
    this.parts.push({ kind: "own", sample: this.sample! }, { kind: "observed", tokens: said });
    this.turns.push({ role: "user", start: this.length, end: this.length + said.length, text });
    this.length += said.length;
    this.start = this.length;
    this.give(this.begin);
    return true;
  }

  /** As a row is made of it. An episode that the context ended was cut off. */
  get finished(): { readonly draft: Draft; readonly sample: Sample } {
    const { draft, parts, turns, tries, sample } = this;
    const finish = this.cut ? "length" : sample!.finish;
    return { draft: { ...draft, episode: { parts, turns, tries } }, sample: { ...sample!, finish } };
  }
}

function rowsOf(episodes: readonly Episode[], { policy }: Table, version: number): Batch {
  const finished = episodes.map((episode) => episode.finished);
  return assemble(
    finished.map(({ draft }) => draft),
    new Map(finished.map(({ sample }, i) => [i, sample])),
    policy.tokenizer,
    version,
  );
}

/**
 * Plays the drafts' episodes to their ends.
 * @throws what generation throws; UserError where a question fills the context
 */
export async function play(drafts: readonly Draft[], table: Table): Promise<Batch> {
  const { policy, decode, shape, judge } = table;
  if (shape.most === 1) return rollOut(policy, drafts, decode);
  const version = policy.version;
  const episodes = drafts.map((draft) => new Episode(draft, table));
  for (let open = episodes; open.length > 0;) {
    const samples = await sampled(
      policy,
      open.map(({ prompt }) => prompt),
      decode,
    );
    open.forEach((episode, i) => episode.wrote(samples[i]!));
    const asking = open.filter(({ mayGoOn }) => mayGoOn);
    const verdicts =
      shape.judges && asking.length > 0 ? await judge(rowsOf(asking, table, version)) : undefined;
    open = asking.filter((episode, i) => episode.goesOn(known(verdicts?.[i])));
  }
  return rowsOf(episodes, table, version);
}

const known = (verdict: number | undefined): boolean | undefined =>
  verdict === undefined || verdict === outcome.unknown ? undefined : verdict === outcome.right;
