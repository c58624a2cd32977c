/** From a rendered prompt to answers: what the three APIs share. */
import type { Sample } from "../core/policy.ts";
import type { ToolSpec } from "../core/slots/tool.ts";
import type { PolicyTokenizer } from "../engine/tokenizers/types.ts";
import { AnswerStream, said, textOf, type Call } from "./answerText.ts";
import type { Share } from "./bounds.ts";
import { Refusal } from "./errors.ts";
import { goingOn } from "./goingOn.ts";
import type { Captured, Sessions } from "./sessions.ts";
import type { Choosing, Writer } from "./writer.ts";
import { formatCount } from "../../shared/lib/format.ts";

/** What a request asks for, whichever API it came by. */
export interface Request {
  readonly api: Captured["api"];
  readonly prompt: string;
  readonly tokens: Int32Array;
  readonly messages?: readonly unknown[];
  readonly tools?: readonly ToolSpec[];
  readonly n: number;
  readonly max_tokens: number | undefined;
  readonly temperature: number;
  readonly stop: readonly string[];
  readonly seed: number | undefined;
  readonly choosing: Choosing;
}
export interface Choice {
  /** Without what ended it; before the first call, where there are calls. */
  readonly text: string;
  readonly calls: readonly Call[];
  readonly tokens: Int32Array;
  readonly logps: Float64Array;
  readonly finish: "stop" | "length" | "tool_calls";
  /** The stop text that ended it. */
  readonly stop: string | null;
}
/** A piece of a choice while it is written. */
export interface Piece {
  readonly choice: number;
  readonly text: string;
  readonly token?: number;
  readonly logp?: number;
}
export interface Answering {
  /** Of the weights that write. */
  readonly version: number;
  readonly choices: Promise<readonly Choice[]>;
}
export interface Caller {
  /** The client has left. */
  readonly signal: AbortSignal;
  readonly session: string | undefined;
  readonly onPiece?: (piece: Piece) => void;
  /** Of what is under way; it says how long the body was. */
  readonly share: Share;
}

/** What every answer says of the weights that wrote it. */
export const weightsOf = (version: number): object => ({
  system_fingerprint: `gradus-v${version}`,
  weight_version: version,
});

/** Characters of tokens that decode to nothing, e.g. `<|im_start|>`. */
const SPECIAL = 64;
/** Characters of the longest token. */
function longestToken(tokenizer: PolicyTokenizer): number {
  let most = SPECIAL;
  for (let id = 0; id < tokenizer.size; id++) most = Math.max(most, tokenizer.decode([id]).length);
  return most;
}

export class Answers {
  private longest: number | undefined;

  constructor(
    private readonly writer: Writer,
    private readonly sessions: Sessions,
  ) {}
  get tokenizer(): PolicyTokenizer {
    return this.writer.policy.tokenizer;
  }

  /**
   * The tokens of a text, which is not read where it can never fit: to encode megabytes holds up every other answer.
   * @throws Refusal
   */
  readonly encode = (text: string): Int32Array => {
    const { context } = this.writer.policy;
    if (text.length > context && text.length > context * (this.longest ??= longestToken(this.tokenizer)))
      throw new Refusal(
        400,
        "context_length_exceeded",
        `The prompt has ${formatCount(text.length)} characters, more than the model's context of ${context} tokens can hold. Shorten the prompt, or serve a model with a longer context.`,
      );
    return this.tokenizer.encode(text);
  };

  /** A conversation that goes on in its session keeps the tokens that were written before. */
  inSession(request: Request, { session }: Pick<Caller, "session">): Request {
    const { messages, prompt } = request;
    if (session === undefined || messages === undefined) return request;
    const tokens = goingOn(this.tokenizer, { messages, prompt }, this.sessions.calls(session));
    return { ...request, tokens: tokens ?? request.tokens };
  }

  /** @throws Refusal where the prompt leaves no room for an answer */
  answer(request: Request, caller: Caller): Answering {
    const { context } = this.writer.policy;
    const { tokens, n, stop } = request;
    if (tokens.length >= context)
      throw new Refusal(
        400,
        "context_length_exceeded",
        `The prompt has ${tokens.length} tokens, and the model's context is ${context}: there is no room for an answer. Shorten the prompt, or serve a model with a longer context.`,
        request.api === "completions" ? "prompt" : "messages",
      );
    const call = caller.session === undefined ? undefined : this.sessions.begin(caller.session);
    const tools = request.tools !== undefined;
    const { onPiece, signal } = caller;
    const streams = onPiece && Array.from({ length: n }, () => new AnswerStream(this.tokenizer, stop, tools));
    const { version, samples } = this.writer.ask({
      ...request,
      // An empty prompt begins with the beginning of a sequence, as everywhere in the engine.
      max_tokens: Math.min(request.max_tokens ?? context, context - Math.max(1, tokens.length)),
      signal,
      onToken:
        streams &&
        ((choice, token, logp) => onPiece({ choice, text: streams[choice]!.push(token), token, logp })),
    });
    const choices = samples.then((written) => {
      if (caller.session !== undefined && call !== undefined)
        this.sessions.add(
          caller.session,
          written.map((sample, choice) => this.captured(request, sample, call, choice, signal.aborted)),
          caller.share.bytes,
        );
      streams?.forEach((stream, choice) => {
        const text = stream.end();
        if (text !== "") onPiece?.({ choice, text });
      });
      return written.map((sample) => this.choiceOf(sample, request));
    });
    return { version, choices };
  }

  private choiceOf({ tokens, logp_old, finish }: Sample, { stop: stops, tools = [] }: Request): Choice {
    if (finish === "error")
      throw new Refusal(
        500,
        "not_finite",
        "The model gave no finite probability. Serve an earlier checkpoint: gradus serve RUN@<step>.",
      );
    const { text, stop } = textOf(this.tokenizer, tokens, stops);
    const answer = said(text, tools);
    return {
      ...answer,
      tokens,
      logps: logp_old,
      finish: finish === "length" ? "length" : answer.calls.length > 0 ? "tool_calls" : "stop",
      stop,
    };
  }

  private captured(
    request: Request,
    sample: Sample,
    call: number,
    choice: number,
    aborted: boolean,
  ): Captured {
    const { api, prompt, messages, tools, tokens, temperature, stop } = request;
    return {
      call,
      choice,
      api,
      at: new Date().toISOString(),
      ...(messages !== undefined && { messages }),
      ...(tools !== undefined && { tools }),
      prompt,
      prompt_tokens: [...tokens],
      tokens: [...sample.tokens],
      logp_old: [...sample.logp_old],
      logp_sampled: [...sample.logp_sampled],
      entropy: [...sample.entropy],
      versions: [...sample.versions],
      text: textOf(this.tokenizer, sample.tokens, stop).text,
      finish: sample.finish,
      aborted,
      temperature,
    };
  }
}
