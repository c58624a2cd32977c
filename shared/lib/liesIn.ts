/** Paths compared as their system does: Windows tells neither `c:` from `C:` nor the two slashes apart. */
import nodePath, { type PlatformPath } from "node:path";

type System = Pick<PlatformPath, "relative" | "isAbsolute" | "sep">;

/** In the folder at any depth, or the folder itself. */
export function liesIn(
  inner: string,
  outer: string,
  { relative, isAbsolute, sep }: System = nodePath,
): boolean {
  const way = relative(outer, inner);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

export const isSamePath = (one: string, other: string, { relative }: System = nodePath): boolean =>
  relative(one, other) === "";
