/** What stands between tags, read once from the left: the work grows with the text, whatever a model wrote. */

/** Pairs of the tags, from the left, none in another; a tag that does not close is none. */
export function tagged(text: string, names: readonly string[]): string[] {
  const next = new Map(names.map((name) => [name, text.indexOf(`<${name}>`)]));
  const found: string[] = [];
  let at = 0;
  for (;;) {
    for (const [name, place] of next) {
      const moved = place >= 0 && place < at ? text.indexOf(`<${name}>`, at) : place;
      if (moved < 0) next.delete(name);
      else next.set(name, moved);
    }
    const [first] = [...next].sort(([, a], [, b]) => a - b);
    if (first === undefined) return found;
    const [name, open] = first;
    const from = open + name.length + 2;
    const close = text.indexOf(`</${name}>`, from);
    if (close < 0) {
      next.delete(name);
      continue;
    }
    found.push(text.slice(from, close));
    at = close + name.length + 3;
  }
}
