import { join, resolve, sep } from "node:path";

/** In the folder at any depth, or the folder itself. */
export const liesIn = (inner: string, outer: string): boolean =>
  join(resolve(inner), sep).startsWith(join(resolve(outer), sep));
