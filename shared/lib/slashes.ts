/** Paths that are written down have `/` on every system: a store, a project or a config may be read on another. */
import nodePath, { type PlatformPath } from "node:path";

export const slashed = (path: string, { sep }: Pick<PlatformPath, "sep"> = nodePath): string =>
  path.replaceAll(sep, "/");

/** From a folder to a path. On Windows to another drive: absolute. */
export const relativePath = (
  folder: string,
  path: string,
  system: Pick<PlatformPath, "relative" | "sep"> = nodePath,
): string => slashed(system.relative(folder, path), system);

/** What a store says, whichever system wrote it. Elsewhere than on Windows a name may have a `\` of its own. */
export const fromAnySystem = (stored: string): string =>
  stored.includes("/") ? stored : stored.replaceAll("\\", "/");
