/** One episode on its way: the policy's turns, what was said to them, and the tokens of both. */
import { UserError } from "../../../../shared/lib/errors.ts";
import { isSameAction } from "../../../core/rows/choices.ts";
import { hasEnded, responseText } from "../../../core/rows/ends.ts";
import { commonPrefix } from "../../../core/rows/commonPrefix.ts";
import { randomStream } from "../../../lib/random.ts";
import type { EpisodeShape } from "../../../core/slots/episodes.ts";
import type { Turn } from "../../../core/slots/turn.ts";
import type { Played } from "../../../core/rollouts.ts";
import type { Lead } from "../../../core/slots/guidance.ts";
import type { DecodeOptions, Policy, Prompt, Sample } from "../../../core/policy.ts";
import { lengthOf, tokensOf, type Draft, type EpisodeRow } from "./assemble.ts";
import { nothing, tooLong } from "./generate.ts";
import { asked, type Asking } from "./prompts.ts";

/** What every episode of a call is played with. */
export interface EpisodeSetting {
  readonly policy: Policy;
  readonly decode: DecodeOptions;
  readonly shape: EpisodeShape;
  readonly asking: Asking;
  /** Turns that an episode may have: drawn, or as many as any. */
  readonly tries: "drawn" | "most";
}

/** What is said to the policy's turn. */
export interface Said extends Pick<Turn, "role" | "text" | "name" | "state"> {
  readonly tokens: Int32Array;
  /** The whole conversation with it, as the chat template writes it again, where that is what the policy reads next. */
  readonly again?: Int32Array | undefined;
}

export class Episode {
  draft: Draft;
  /** Turns of the policy that it may have. */
  readonly tries: number;
  /** Turns of the policy so far. */
  number = 0;
  turns: Turn[] = [];
  private sample: Sample | undefined;
  private parts: Lead[] = [];
  /** Rows that the episode has left behind. */
  private readonly earlier: EpisodeRow[] = [];
  /** The policy's next turn is read after tokens that it knows. */
  private goesOn = false;
  /** Tokens that every turn of the policy begins with. */
  private readonly begin: Int32Array;
  /** The row's first token of the turn that is next. */
  private start = 0;
  /** Tokens of the row before those that the policy writes next. */
  private length: number;
  private written = 0;
  private cut = false;
  /** What may be written next, where its environment takes nothing else. */
  actions: readonly string[] | undefined;
  /** Why it could not be played to its end. */
  failed: string | undefined;
  /** What answered its turns, where it was not the shape. */
  played: { -readonly [Key in keyof Played]: Played[Key] } | undefined;

  constructor(
    draft: Draft,
    readonly setting: EpisodeSetting,
  ) {
    const { shape, decode } = setting;
    const { prompt, help, resumes } = draft;
    const prefix = prompt.prefix ?? new Int32Array(0);
    this.draft = draft;
    this.begin = resumes?.begin ?? prefix.slice(0, prefix.length - lengthOf(help?.lead ?? []));
    this.length = prefix.length;
    this.tries =
      resumes?.state.tries ??
      (setting.tries === "most"
        ? shape.most
        : shape.tries(randomStream(decode.seed, "tries", ...prompt.key)));
    if (resumes !== undefined) this.resume(resumes.state);
  }

  /** Asks this in the place of the task's prompt. @throws UserError where it fills the context */
  asks(text: string, asking: Asking = this.setting.asking): void {
    const { policy } = this.setting;
    const { task, prompt } = this.draft;
    const { tokens } = asked(policy.tokenizer, { ...task, prompt: text }, asking);
    if (tokens.length + this.length + this.needs > policy.context)
      throw tooLong(text, tokens.length + this.length, policy.context);
    this.draft = { ...this.draft, prompt: { ...prompt, tokens } };
  }

  private resume({ turns }: NonNullable<Draft["resumes"]>["state"]): void {
    for (const { tokens, ...turn } of turns) {
      const own = turn.role === "assistant";
      this.parts.push({ kind: own ? "given" : "observed", tokens });
      const end = this.length + tokens.length;
      this.turns.push({ ...turn, start: this.length, end });
      this.length = end;
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

  /** Whether the policy may have another turn. */
  get mayGoOn(): boolean {
    return this.number < this.tries && this.left > 0 && this.sample?.finish !== "error";
  }
  private get chooses(): boolean {
    return this.setting.shape.plays?.actions === "choose";
  }
  /** The actions of which the next turn is one, each once. @throws UserError where the environment listed none */
  get choices(): readonly string[] {
    const { actions = [], draft } = this;
    if (actions.length > 0) return [...new Set(actions)];
    throw noActions(draft.task.id);
  }
  /** Tokens that the next turn has at the least. */
  private get needs(): number {
    if (!this.chooses || this.actions === undefined) return 1;
    const { tokenizer } = this.setting.policy;
    return Math.max(...this.actions.map((action) => tokenizer.encode(action).length));
  }
  /** Tokens that the next turn may have. */
  private get left(): number {
    const { shape, decode } = this.setting;
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
      ...(this.left < this.setting.decode.max_tokens && { max_tokens: this.left }),
      ...(this.sample !== undefined && this.goesOn && { after: this.sample.index }),
      key: this.number === 0 ? prompt.key : [...prompt.key, "attempt", this.number],
    };
  }

  /** The policy's turn that has just ended. */
  get last(): { readonly text: string; readonly sample: Sample } {
    return { text: this.turns.at(-1)!.text!, sample: this.sample! };
  }
  /** Its last token, where that ends it. */
  get endToken(): number | undefined {
    const { tokens } = this.sample!;
    return hasEnded(tokens, this.setting.policy.tokenizer) ? tokens.at(-1) : undefined;
  }

  wrote(sample: Sample): void {
    const { tokenizer } = this.setting.policy;
    this.sample = sample;
    this.number += 1;
    this.written += sample.tokens.length;
    const end = this.length + sample.tokens.length;
    // The first turn begins where the row does, with whatever was given to it.
    const opening = this.number === 1 ? (this.draft.prompt.prefix ?? this.begin) : this.begin;
    const text = this.chooses
      ? this.actionOf(sample)
      : responseText(Int32Array.from([...opening, ...sample.tokens]), tokenizer);
    const from = this.chooses ? { actions: this.choices } : {};
    this.turns.push({ role: "assistant", start: this.start, end, text, finish: sample.finish, ...from });
    this.length = end;
  }

  /** The environment hears the very action. */
  private actionOf({ tokens }: Sample): string {
    const { tokenizer } = this.setting.policy;
    const same = (action: string): boolean => isSameAction(tokenizer.encode(action), tokens);
    return this.choices.find(same) ?? tokenizer.decode(tokens);
  }

  /** Adds what is said to the policy's turn; false: it leaves no room for another. */
  hears({ again, ...said }: Said): boolean {
    if (again === undefined) return this.goesOnWith(said);
    const now = this.tokens;
    const same = commonPrefix(now, again);
    return same === now.length
      ? this.goesOnWith({ ...said, tokens: again.slice(same) })
      : this.beginsAgain(again, now.length - same, said);
  }

  /** All tokens so far, those of the prompt included. */
  private get tokens(): Int32Array {
    const { prompt } = this.draft;
    const all = [prompt.tokens, prompt.prefix ?? [], ...this.parts.map(tokensOf), this.sample!.tokens];
    return Int32Array.from(all.flatMap((tokens) => [...tokens]));
  }

  /** What was so far becomes a row of its own; the rest is read after other tokens. */
  private beginsAgain(
    context: Int32Array,
    rewritten: number,
    { tokens: _, ...answered }: Omit<Said, "again">,
  ): boolean {
    this.cut = context.length + this.begin.length + this.needs > this.setting.policy.context;
    if (this.cut) return false;
    const { draft, sample } = this.row;
    this.earlier.push({ draft: { ...draft, episode: { ...draft.episode!, answered } }, sample });
    this.reads(context);
    const { played } = this;
    if (played !== undefined) played.rewritten = (played.rewritten ?? 0) + rewritten;
    return true;
  }

  /** The policy's next turn is read after these tokens, which hold the turns so far: the row begins there. */
  reads(context: Int32Array): void {
    const { played, turns } = this;
    if (played !== undefined)
      played.earlier = turns.reduce((sum, { reward = 0 }) => sum + reward, played.earlier ?? 0);
    const { key } = this.draft.prompt;
    const { help, resumes: _, ...draft } = this.draft;
    this.draft = {
      ...draft,
      prompt: { key, tokens: context },
      // Of where it started, nothing is in this row.
      ...(help && { help: { ...help, record: { ...help.record, given: 0 } } }),
    };
    [this.parts, this.turns, this.length, this.start, this.goesOn] = [[], [], 0, 0, false];
    this.give(this.begin);
  }

  private goesOnWith({ tokens, ...said }: Said): boolean {
    const { context } = this.setting.policy;
    const before = this.draft.prompt.tokens.length + this.length + tokens.length + this.begin.length;
    this.cut = before + this.needs > context;
    if (this.cut) return false;
    this.parts.push({ kind: "own", sample: this.sample! }, { kind: "observed", tokens });
    this.turns.push({ ...said, start: this.length, end: this.length + tokens.length });
    this.length += tokens.length;
    this.start = this.length;
    this.goesOn = true;
    this.give(this.begin);
    return true;
  }

  /** The turn that has just ended was given this. */
  rewards(reward: number): void {
    const last = this.turns.at(-1)!;
    this.turns[this.turns.length - 1] = { ...last, reward: (last.reward ?? 0) + reward };
  }
  /** It ends before its environment or its tools have come to an end. */
  cutsOff(): void {
    this.cut = true;
  }

  /** As rows are made of it: one, or its parts where its conversation was written again. */
  get finished(): readonly EpisodeRow[] {
    const rows = [...this.earlier, this.row];
    if (rows.length === 1) return rows;
    const { failed } = this;
    return rows.map(({ draft, sample }, i) => {
      const part = { number: i + 1, of: rows.length };
      const episode = { ...draft.episode!, part, ...(failed !== undefined && { failed }) };
      return { draft: { ...draft, episode }, sample };
    });
  }

  /** What it is now. An episode that the context or its number of turns ended was cut off. */
  private get row(): EpisodeRow {
    const { draft, turns, tries, failed, played } = this;
    const { parts, sample } = this.unwritten ?? { parts: this.parts, sample: this.sample! };
    const finish = failed === undefined ? (this.cut ? "length" : sample.finish) : "error";
    const episode = {
      parts,
      turns,
      tries,
      ...(failed !== undefined && { failed }),
      ...(played && { played }),
    };
    return { draft: { ...draft, episode }, sample: { ...sample, finish } };
  }

  /** Of an episode that failed before a turn was written after the last answer: a row has a token at the least. */
  private get unwritten(): { readonly parts: readonly Lead[]; readonly sample: Sample } | undefined {
    if (this.turns.at(-1)?.role === "assistant" && this.sample !== undefined) return undefined;
    const sample = nothing(0, this.draft, this.setting.policy.tokenizer);
    const end = Int32Array.of(this.setting.policy.tokenizer.eos);
    return { parts: this.length > 0 ? this.parts : [{ kind: "observed", tokens: end }], sample };
  }
}

const noActions = (task: string): UserError =>
  new UserError(
    `\`rollout.shape.actions: choose\` draws each turn among the actions that the environment lists, and that of the task ${task} listed none.`,
    {
      code: "choose-actions",
      action:
        "Let `reset` and `step` of the environment return `actions`, choose a world that lists them (`grid_world`, `maze`, `market`), or let the policy write its turns (`actions: write`).",
    },
  );
