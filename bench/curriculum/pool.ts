/** The prompts that GAIN-RL's two sides draw from, once a seed. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { randomStream } from "../../server/lib/random.ts";
import { cache, jsonLines, keepText, randomText, reversed } from "./warmUps.ts";

/** Before a fifth of them is held out: training draws from some 2,000. */
const prompts = 2500;
const lengths = [4, 6, 8, 10];

/** Path of the file. */
export function pool(seed: number): string {
  const path = join(cache, `pool-1-${seed}.jsonl`);
  if (existsSync(path)) return path;
  const random = randomStream(seed, "pool");
  const rows = Array.from({ length: prompts }, (_, i) => {
    const letters = lengths[i % lengths.length]!;
    const text = randomText(letters, random);
    return { prompt: `${text}>`, answer: reversed(text), letters };
  });
  return keepText(path, jsonLines(rows));
}
