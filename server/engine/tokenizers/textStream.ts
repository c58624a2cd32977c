/** Text of tokens as they are written: what cannot change any more, and no half characters. */

/** What U+FFFD at the end means here: bytes of a character whose others are still to come. */
const UNFINISHED = "\ufffd";

/**
 * Tokens go in one by one, text comes out as soon as it is certain. The text of some tokens depends on those before
 * (a leading space, bytes of one character), so the difference of two decodings is taken over a short tail.
 */
export class TextStream {
  private readonly tokens: number[] = [];
  /** The tail to decode begins here; what lies before `read` has been given out. */
  private start = 0;
  private read = 0;

  constructor(private readonly decode: (tokens: readonly number[]) => string) {}

  /** The text that this token completes; empty while a character is unfinished. */
  push(token: number): string {
    this.tokens.push(token);
    const text = this.difference();
    if (text.endsWith(UNFINISHED)) return "";
    if (text === "") return "";
    this.start = this.read;
    this.read = this.tokens.length;
    return text;
  }
  /** What is left when no more tokens come: bytes that make no character become U+FFFD. */
  end(): string {
    const text = this.difference();
    this.start = this.read = this.tokens.length;
    return text;
  }
  private difference(): string {
    const before = this.decode(this.tokens.slice(this.start, this.read));
    return this.decode(this.tokens.slice(this.start)).slice(before.length);
  }
}
