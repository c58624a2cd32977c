/** What an answer says: its text without what ended it, piece by piece while it is written, and the calls in it. */
import type { JsonObject } from "../../shared/lib/json.ts";
import type { ToolSpec } from "../core/slots/tool.ts";
import { callsIn } from "../core/toolCalls.ts";
import { TextStream } from "../engine/tokenizers/index.ts";
import type { PolicyTokenizer } from "../engine/tokenizers/types.ts";

/** What a call of a tool begins with (`server/core/toolCalls.ts`). */
const CALL = "<tool_call>";

export interface Call {
  readonly name: string;
  readonly arguments: JsonObject;
}

/** Where a text ends: at the first stop text, or at the end; and whether one was found. */
export function cutAtStop(text: string, stop: readonly string[]): { text: string; stop: string | null } {
  let best: { at: number; stop: string } | undefined;
  for (const one of stop) {
    const at = one === "" ? -1 : text.indexOf(one);
    if (at >= 0 && (best === undefined || at < best.at)) best = { at, stop: one };
  }
  return best === undefined ? { text, stop: null } : { text: text.slice(0, best.at), stop: best.stop };
}

/** What is certain of a text that goes on: all but an end that may be the beginning of one of these. */
function certain(text: string, marks: readonly string[]): number {
  let held = 0;
  for (const mark of marks)
    for (let length = Math.min(mark.length - 1, text.length); length > held; length--)
      if (text.endsWith(mark.slice(0, length))) held = length;
  return text.length - held;
}

/** The pieces of an answer's text as they are certain. With tools they end where a call begins. */
export class AnswerStream {
  private readonly stream: TextStream;
  private readonly marks: readonly string[];
  private text = "";
  private given = 0;

  constructor(
    private readonly tokenizer: PolicyTokenizer,
    stop: readonly string[],
    tools: boolean,
  ) {
    this.stream = new TextStream((tokens) => tokenizer.decode(tokens));
    this.marks = [...stop.filter((one) => one !== ""), ...(tools ? [CALL] : [])];
  }
  /** The text that this token makes certain; often empty. */
  push(token: number): string {
    if (this.tokenizer.eosAll.includes(token)) return "";
    this.text += this.stream.push(token);
    return this.upTo(certain(this.text, this.marks));
  }
  /** What is left when no more tokens come. */
  end(): string {
    this.text += this.stream.end();
    return this.upTo(this.text.length);
  }
  private upTo(end: number): string {
    const most = cutAtStop(this.text, this.marks).text.length;
    const piece = this.text.slice(this.given, Math.min(end, most));
    this.given = Math.max(this.given, Math.min(end, most));
    return piece;
  }
}

/** An answer's text without the token or the text that ended it. */
export function textOf(
  tokenizer: PolicyTokenizer,
  tokens: Int32Array,
  stop: readonly string[],
): { text: string; stop: string | null } {
  const ended = tokenizer.eosAll.includes(tokens.at(-1) ?? -1);
  return cutAtStop(tokenizer.decode(ended ? tokens.subarray(0, -1) : tokens), stop);
}

/** The calls in a text and what is said before the first. What is no call that can be read stays text. */
export function said(text: string, tools: readonly ToolSpec[]): { text: string; calls: Call[] } {
  const found = callsIn(text, "json", tools);
  const calls = found.filter((one) => one.kind === "call");
  if (calls.length === 0 || calls.length < found.length) return { text, calls: [] };
  return {
    text: text.slice(0, text.indexOf(CALL)).trimEnd(),
    calls: calls.map(({ name, args }) => ({ name, arguments: args })),
  };
}
