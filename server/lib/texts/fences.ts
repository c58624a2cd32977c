/** Fenced blocks, read line by line: the work grows with the text, whatever a model wrote. */

export interface Fenced {
  /** What follows the fence in its line, without the blanks around it. */
  readonly named: string;
  readonly body: string;
  /** Character of the text that the body begins at. */
  readonly start: number;
}

/** A line's fence; -1: it has none. */
function fenceAt(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\t") at++;
  return text.startsWith("```", at) ? at + 3 : -1;
}

/**
 * The blocks of a text; the last may lack its end.
 * @param opens whether a line begins a block that has this after its fence
 */
export function fences(text: string, opens: (named: string) => boolean = () => true): Fenced[] {
  const found: Fenced[] = [];
  let open: { readonly named: string; readonly start: number } | undefined;
  for (let from = 0; from <= text.length;) {
    const feed = text.indexOf("\n", from);
    const end = feed < 0 ? text.length : feed;
    const fence = fenceAt(text, from);
    if (fence >= 0 && open !== undefined) {
      found.push({ ...open, body: text.slice(open.start, from) });
      open = undefined;
    } else if (fence >= 0 && feed >= 0) {
      const named = text.slice(fence, end).trim();
      if (opens(named)) open = { named, start: feed + 1 };
    }
    from = end + 1;
  }
  if (open !== undefined) found.push({ ...open, body: text.slice(open.start) });
  return found;
}
