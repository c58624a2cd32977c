/** Tells whether a model's weights are still those that an adapter was trained on. */
import { createHash } from "node:crypto";
import { closeSync, readdirSync, readSync, statSync } from "node:fs";
import { openRegular } from "../../lib/inputFile.ts";
import { join } from "node:path";

const known = new Map<string, string>();

/** Files that hold weights: the file itself, or a folder's safetensors of the model or adapter. */
function weightFiles(path: string): string[] {
  if (statSync(path).isFile()) return [path];
  return readdirSync(path)
    .filter((name) => /^(model.*|adapter_model)\.safetensors$/.test(name))
    .sort()
    .map((name) => join(path, name));
}

/** SHA-256 over a model's weight files, in hexadecimal. Files that have not changed since are not read again. */
export function fingerprint(path: string): string {
  const files = weightFiles(path);
  const stamp = files
    .map((file) => {
      const { size, mtimeMs } = statSync(file);
      return `${file} ${size} ${mtimeMs}`;
    })
    .join("\n");
  const found = known.get(stamp);
  if (found !== undefined) return found;
  const hash = createHash("sha256");
  const chunk = Buffer.alloc(2 ** 20);
  for (const file of files) {
    const descriptor = openRegular(file);
    try {
      for (let read = 1; read > 0;) {
        read = readSync(descriptor, chunk, 0, chunk.length, null);
        hash.update(chunk.subarray(0, read));
      }
    } finally {
      closeSync(descriptor);
    }
  }
  const digest = hash.digest("hex");
  known.set(stamp, digest);
  return digest;
}
