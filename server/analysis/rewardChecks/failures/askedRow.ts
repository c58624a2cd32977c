/** Whether the key that a Python reward misses is one of the row: what the trainer passes, and no dictionary of the function's own. */
import { signatureOf } from "../../../config/check/signatures/index.ts";
import type { RewardTermConfig } from "../../../core/config/resolved.ts";
import { firstLine } from "../../../lib/notebook/notebook.ts";
import { ownFile, sourceOf, type FilePlace } from "../ownFiles.ts";

/** @param place the line that threw */
export function asksRow(of: RewardTermConfig, { file, cell, line }: FilePlace, key: string): boolean {
  const name = of.term.params["export"];
  const source = file === ownFile(of) ? sourceOf(file) : undefined;
  const signature = typeof name === "string" ? signatureOf(file, name) : undefined;
  if (source === undefined || signature === undefined) return false;
  const at = line + (cell === undefined ? 0 : (firstLine(source, cell) ?? 0));
  const body = source.split("\n").slice(signature.line, at + 1);
  // Another function's parameters hold what this one gives it.
  if (body.length === 0 || body.slice(1).some((text) => /^(?:async\s+def|def|class)\b/.test(text)))
    return false;
  const receivers = receiversOf(body.at(-1) ?? "", key);
  return receivers.length > 0 && receivers.every((receiver) => isIn(signature.head, receiver));
}

/** What a line looks a key up in, by its first name: `extra_info` of `extra_info["a"]["key"]` and of `extra_info.pop("key")`. */
function receiversOf(line: string, key: string): string[] {
  const quoted = [`"${key}"`, `'${key}'`]
    .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("|");
  const lookup = new RegExp(
    String.raw`(?<![\w.])([A-Za-z_]\w*)(?:\.\w+|\[[^\[\]]*\])*?(?:\.pop\(|\[)\s*(?:${quoted})\s*[\])]`,
    "g",
  );
  return [...line.matchAll(lookup)].map(([, name = ""]) => name);
}

const isIn = (head: string, name: string): boolean => new RegExp(String.raw`\b${name}\b`).test(head);
