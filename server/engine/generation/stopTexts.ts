/** Whether a response's text has come to one of its stop texts. */
import type { Tokenizer } from "../../core/policy.ts";
import type { ResponseColumns } from "./written.ts";

const REPLACEMENT = "\ufffd";
/** Tokens that are looked at beyond as many as the text has bytes, so that a character cut in two is whole. */
const MARGIN = 4;

export class StopTexts {
  private readonly texts: readonly string[];
  private readonly longest: number;
  /** By token: 0 not known, 1 cannot complete a stop text, 2 may. Spares decoding at nearly every token. */
  private readonly ending: Uint8Array;

  constructor(
    texts: readonly string[],
    private readonly tokenizer: Tokenizer,
  ) {
    this.texts = texts.filter((text) => text !== "");
    this.longest = Math.max(0, ...this.texts.map((text) => Buffer.byteLength(text)));
    this.ending = new Uint8Array(this.texts.length === 0 ? 0 : tokenizer.size);
  }

  /** A stop text is completed by the last token; every token is at least one byte of it. */
  completedBy(token: number, written: ResponseColumns): boolean {
    if (this.texts.length === 0 || !this.mayComplete(token)) return false;
    const tail = this.tokenizer.decode(written.tail(this.longest + MARGIN));
    return this.texts.some((text) => tail.includes(text));
  }
  private mayComplete(token: number): boolean {
    const known = this.ending[token] ?? 2;
    if (known !== 0) return known === 2;
    const text = this.tokenizer.decode([token]);
    // A token by itself may decode without the space it begins with, and a part of a character to no character.
    const may =
      text === "" ||
      text.includes(REPLACEMENT) ||
      this.texts.some((stop) => text.includes(stop.at(-1)!) || /\s$/u.test(stop));
    this.ending[token] = may ? 2 : 1;
    return may;
  }
}
