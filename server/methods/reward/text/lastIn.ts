/** What the last pair of a tag holds; null: there is none. */
export function lastIn(text: string, tag: string): string | null {
  const close = text.lastIndexOf(`</${tag}>`);
  const open = close < 0 ? -1 : text.lastIndexOf(`<${tag}>`, close);
  return open < 0 ? null : text.slice(open + tag.length + 2, close).trim();
}
