/** What of a text another one replaces: between what both begin with and what both end with. Pure. */
export function changedPart(
  before: string,
  after: string,
): { readonly start: number; readonly end: number; readonly inserted: string } {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  let same = 0;
  while (same < most - start && before.at(-1 - same) === after.at(-1 - same)) same++;
  return { start, end: before.length - same, inserted: after.slice(start, after.length - same) };
}
