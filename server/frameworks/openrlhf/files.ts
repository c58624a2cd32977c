/** Python files next to an OpenRLHF script that names them. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Flags } from "./flags.ts";

const largest = 1 << 18;
const read = new Map<string, { readonly stamp: number; readonly text: string }>();

/** A file is read again only when it changed. */
export function textBeside({ model }: Flags, path: string): string | undefined {
  const file = resolve(dirname(model.document.file), path);
  if (!existsSync(file)) return undefined;
  const stats = statSync(file);
  const { mtimeMs, size } = stats;
  if (!stats.isFile() || size > largest) return undefined;
  const known = read.get(file);
  const text = known?.stamp === mtimeMs ? known.text : readFileSync(file, "utf8");
  read.set(file, { stamp: mtimeMs, text });
  return text;
}
