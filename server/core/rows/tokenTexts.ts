/** Which token wrote which characters of a response. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { Batch } from "../rollouts.ts";
import type { Tokenizer } from "../policy.ts";

/** Tokens [from, to) of a row. */
export type Span = readonly [number, number];

export interface TokenTexts {
  readonly text: string;
  /** Token t wrote the characters [starts[t], starts[t + 1]); one entry more than there are tokens. */
  readonly starts: Int32Array;
}

/** Reads the tokens of rows. Without a tokenizer a row can be read only where its tokens are its characters. */
export class TokenReader {
  private readonly known = new Map<number, string>();

  constructor(
    private readonly tokenizer: Tokenizer | undefined,
    private readonly who: string,
  ) {}

  /** @throws UserError where there is no tokenizer and the response has not one character a token */
  row(batch: Batch, row: number): TokenTexts {
    const tokens = batch.tokens.subarray(batch.offsets[row], batch.offsets[row + 1]);
    const texts =
      this.tokenizer === undefined ? this.characters(batch, row, tokens.length) : [...tokens].map(this.one);
    const starts = new Int32Array(texts.length + 1);
    texts.forEach((text, t) => (starts[t + 1] = starts[t]! + text.length));
    return { text: texts.join(""), starts };
  }

  private readonly one = (token: number): string => {
    const found = this.known.get(token) ?? this.tokenizer!.decode([token]);
    this.known.set(token, found);
    return found;
  };

  private characters(batch: Batch, row: number, tokens: number): string[] {
    const { response, group, index } = batch.records[row]!;
    const characters = [...response];
    // The end token has no text.
    if (characters.length === tokens || characters.length === tokens - 1)
      return Array.from({ length: tokens }, (_, t) => characters[t] ?? "");
    throw new UserError(
      `${this.who} needs the characters of each token, but rollout ${index} of group "${group}" has ${tokens} tokens for ${characters.length} characters, and there is no tokenizer`,
      {
        code: "mask-text",
        action:
          "Record `mask` with the rollouts and remove this method from the config, or record `spans` and use the mask `spans`.",
      },
    );
  }
}

/** The tokens that wrote any of the characters [from, to). A token without text belongs to neither side. */
export function tokensOf({ starts }: TokenTexts, from: number, to: number): Span {
  let [start, end] = [starts.length - 1, 0];
  for (let t = 0; t + 1 < starts.length; t++) {
    if (starts[t + 1]! <= from || starts[t]! >= to || starts[t] === starts[t + 1]) continue;
    start = Math.min(start, t);
    end = t + 1;
  }
  return start < end ? [start, end] : [0, 0];
}
