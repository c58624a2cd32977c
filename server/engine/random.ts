/** Uniform numbers keyed by where they are used, so that no draw depends on how many came before it elsewhere. */

/** Mixes the bits of a 32-bit state (the finaliser of MurmurHash3). */
function mix(state: number): number {
  let h = state >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Two independent 32-bit hashes of a key (FNV-1a over its text with different offsets, then mixed). */
function hashes(key: readonly (string | number)[]): [number, number] {
  const text = JSON.stringify(key);
  let a = 0x811c9dc5;
  let b = 0x9747b28c;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x5bd1e995);
    b ^= b >>> 15;
  }
  return [mix(a), mix(b ^ 0x3c6ef372)];
}

/** A stream of numbers; `at(i)` is the i-th of it, whatever was drawn before. */
export class Stream {
  private readonly a: number;
  private readonly b: number;
  private count = 0;
  constructor(...key: readonly (string | number)[]) {
    [this.a, this.b] = hashes(key);
  }
  /** The i-th number, in [0, 1) with 24 bits: exactly representable as a 32-bit float. */
  at(index: number): number {
    const high = mix(this.a + Math.imul(index + 1, 0x9e3779b9));
    return (mix(high ^ this.b ^ Math.imul(index, 0x85ebca77)) >>> 8) / 0x1000000;
  }
  next(): number {
    return this.at(this.count++);
  }
  /** Mean 0, deviation 1 (Box and Muller). */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return radius * Math.cos(2 * Math.PI * this.next());
  }
}
