import { createHash } from "node:crypto";
import type { Random } from "../../lib/random.ts";

/** A stream for checks that draw a few examples: the same config gives the same diagnostics. */
export function keyedRandom(...key: readonly (string | number)[]): Random {
  let state = createHash("sha256").update(JSON.stringify(key)).digest().readUInt32LE(0);
  // mulberry32
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    integer: (bound) => Math.floor(next() * bound),
    fork: (...more) => keyedRandom(...key, ...more),
  };
}
