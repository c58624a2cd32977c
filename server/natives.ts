/**
 * Where native modules and packages that must stay folders on disk are loaded from. In a checkout that is its own
 * node_modules; an installed extension has none beside it, so set-up puts them into a versioned data folder and
 * GRADUS_NATIVE_ROOT (or the recorded root) names it.
 */
import { createRequire } from "node:module";
import { join } from "node:path";

/** Resolves and requires packages from the native root. */
export function nativeRequire(): NodeJS.Require {
  const root = process.env["GRADUS_NATIVE_ROOT"];
  return createRequire(root === undefined ? import.meta.url : join(root, "package.json"));
}
