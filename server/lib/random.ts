/**
 * Random streams. A stream is named by its key (seed, purpose, step, task, index) and by nothing else, so what one
 * place draws never depends on how often another place has drawn. Nothing here has to be saved in a checkpoint.
 */

type KeyPart = string | number;
type RandomState = readonly [number, number, number, number];

const text = (part: KeyPart): string => (typeof part === "number" ? `#${part}` : `$${part}`);

/** Four lanes of a 32-bit multiplicative hash over the characters, mixed at the end (the scheme known as cyrb128). */
function absorb(state: RandomState, key: readonly KeyPart[]): RandomState {
  let [a, b, c, d] = state;
  for (const part of key) {
    for (const character of `${text(part)}\u0000`) {
      const code = character.codePointAt(0) ?? 0;
      a = b ^ Math.imul(a ^ code, 597_399_067);
      b = c ^ Math.imul(b ^ code, 2_869_860_233);
      c = d ^ Math.imul(c ^ code, 951_274_213);
      d = a ^ Math.imul(d ^ code, 2_716_044_179);
    }
  }
  return [a, b, c, d];
}

function finish([a, b, c, d]: RandomState): RandomState {
  const w = Math.imul(c ^ (a >>> 18), 597_399_067);
  const x = Math.imul(d ^ (b >>> 22), 2_869_860_233);
  const y = Math.imul(w ^ (c >>> 17), 951_274_213);
  const z = Math.imul(x ^ (d >>> 19), 2_716_044_179);
  return [w ^ x ^ y ^ z, x ^ w, y ^ w, z ^ w];
}

/** Small Fast Counter (sfc32, Chris Doty-Humphrey, public domain): 32 bits a call. */
function generator(start: RandomState): () => number {
  let [a, b, c, counter] = start;
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (let i = 0; i < 12; i++) next();
  return next;
}

class Stream implements Random {
  private readonly bits: () => number;

  constructor(private readonly state: RandomState) {
    this.bits = generator(finish(state));
  }

  /** 53 random bits, so that every double of the grid k·2⁻⁵³ can come. */
  next(): number {
    const high = this.bits() >>> 5;
    const low = this.bits() >>> 6;
    return (high * 67_108_864 + low) / 9_007_199_254_740_992;
  }

  /** Uniform without the bias of a modulo: draws above the last whole multiple of `bound` are thrown away. */
  integer(bound: number): number {
    if (!(Number.isInteger(bound) && bound > 0 && bound <= 4_294_967_296))
      throw new RangeError(`integer(${bound}): the bound must be a whole number from 1 to 2^32`);
    const limit = 4_294_967_296 - (4_294_967_296 % bound);
    let drawn = this.bits();
    while (drawn >= limit) drawn = this.bits();
    return drawn % bound;
  }

  fork(...key: readonly KeyPart[]): Random {
    return new Stream(absorb(this.state, key));
  }
}

/** The stream of a key, e.g. `randomStream(seed, "draw", step)`. Equal keys give equal streams. */
export const randomStream = (...key: readonly KeyPart[]): Random =>
  new Stream(absorb([1_779_033_703, 3_144_134_277, 1_013_904_242, 2_773_480_762], key));

/** Uniform random numbers. Streams are keyed (seed, purpose, step, task, index); none is shared. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** An integer in [0, bound). */
  integer(bound: number): number;
  /** An independent stream below this one. */
  fork(...key: readonly (string | number)[]): Random;
}
