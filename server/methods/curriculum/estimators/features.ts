/** Features of a task's prompt, for models that do not read text. */
import type { Task } from "../../../core/task.ts";

/** FNV-1a over the characters. */
function hash(text: string): number {
  let value = 2_166_136_261;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 16_777_619);
  return value >>> 0;
}

/**
 * `size` numbers: log(1 + length)/10, then the shares of the prompt's hashed one-, two- and three-character pieces,
 * brought to length 1.
 */
export function promptFeatures({ prompt }: Task, size: number): Float64Array {
  const features = new Float64Array(size);
  const characters = [...prompt];
  for (const n of [1, 2, 3])
    for (let i = 0; i + n <= characters.length && size > 1; i++)
      features[1 + (hash(characters.slice(i, i + n).join("")) % (size - 1))]! += 1;
  const norm = Math.sqrt(features.reduce((sum, x) => sum + x * x, 0));
  if (norm > 0) for (let i = 0; i < size; i++) features[i]! /= norm;
  features[0] = Math.log(1 + characters.length) / 10;
  return features;
}
