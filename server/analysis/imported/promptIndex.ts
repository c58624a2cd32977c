/** Which of many texts a prompt contains, whatever a chat template has put around it. */

interface Entry<Row> {
  readonly text: string;
  readonly row: Row;
  /** Another row has the same text. */
  ambiguous: boolean;
}

/** Characters of a text's beginning that it is looked up by. */
const anchor = 24;
const wordCharacter = /[\p{L}\p{N}]/u;

/** Texts by their beginnings: a prompt is looked through once for each length of beginning, of which there are few. */
export class PromptIndex<Row> {
  private readonly texts = new Map<string, Entry<Row>>();
  private readonly beginnings = new Map<number, Map<string, Entry<Row>[]>>();

  /** Of two rows with one text neither is found: `same` says whether they are as good as one. */
  add(written: string, row: Row, same: (one: Row, other: Row) => boolean): void {
    // Chat templates trim what they are given.
    const text = written.trim();
    if (text === "") return;
    const known = this.texts.get(text);
    if (known !== undefined) {
      known.ambiguous ||= !same(known.row, row);
      return;
    }
    const entry = { text, row, ambiguous: false };
    this.texts.set(text, entry);
    const length = Math.min(anchor, text.length);
    const ofLength = this.beginnings.get(length) ?? new Map<string, Entry<Row>[]>();
    this.beginnings.set(length, ofLength);
    const beginning = text.slice(0, length);
    const others = ofLength.get(beginning);
    if (others === undefined) ofLength.set(beginning, [entry]);
    else others.push(entry);
  }

  /** The row of the longest text in the prompt; undefined: there is none, or several rows have it. */
  find(prompt: string): Row | undefined {
    let longest: Entry<Row> | undefined;
    for (const [length, entries] of this.beginnings)
      for (let at = 0; at + length <= prompt.length; at++)
        for (const entry of entries.get(prompt.slice(at, at + length)) ?? [])
          if (entry.text.length > (longest?.text.length ?? 0) && isWhole(prompt, entry.text, at))
            longest = entry;
    return longest?.ambiguous === false ? longest.row : undefined;
  }
}

/** "3 + 4" is no part of "13 + 45". */
const isWhole = (prompt: string, text: string, at: number): boolean =>
  prompt.startsWith(text, at) && !joins(prompt, at) && !joins(prompt, at + text.length);

const joins = (text: string, at: number): boolean =>
  wordCharacter.test(text.charAt(at - 1)) && wordCharacter.test(text.charAt(at));
