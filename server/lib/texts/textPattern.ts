/**
 * A regular expression that a person wrote, over texts that a model wrote: it may go back without end, on the thread of a run. All of
 * JavaScript's expressions stay, lookaheads and back references included, which no engine in linear time has; so the time is bounded.
 */
import { bounded } from "../sandbox/bounded.ts";

/** Seconds that a text may take. A pattern that is not harmless takes this long once: each further text half of it, to the least. */
const most = 0.5;
const least = 1 / 32;
/** Of the patterns that took too long, whoever made them again. */
const patience = new Map<string, number>();

export class TextPattern {
  readonly #one: RegExp;
  readonly #all: RegExp;
  readonly #name: string;

  /** @throws SyntaxError where it is none. @param flags other than `g` and `y` */
  constructor(source: string, flags = "") {
    this.#name = `${flags} ${source}`;
    this.#one = new RegExp(source, flags);
    this.#all = new RegExp(source, `g${flags}`);
  }

  /** undefined: it took too long, and nothing is known. */
  test(text: string): boolean | undefined {
    return this.#within(() => this.#one.test(text));
  }

  /** The first match; null: there is none, or it took too long. */
  first(text: string): RegExpExecArray | null {
    return this.#within(() => this.#one.exec(text)) ?? null;
  }

  /** Every match; none where it took too long. */
  all(text: string): readonly RegExpExecArray[] {
    return this.#within(() => [...text.matchAll(this.#all)]) ?? [];
  }

  #within<Found>(find: () => Found): Found | undefined {
    const seconds = patience.get(this.#name) ?? most;
    const found = bounded(seconds, find);
    if (!found.isLate) return found.result;
    patience.set(this.#name, Math.max(least, seconds / 2));
    return undefined;
  }
}
