/** Which weights moved, and how far. */

/** Sums over weights, which add up over parts of a model. */
export interface Movement {
  readonly parameters: number;
  /** With |Δ| above the tolerance. */
  readonly moved: number;
  /** With another value once rounded to bfloat16. */
  readonly visible: number;
  /** Σ Δ², and Σ of the squares before. */
  readonly change: number;
  readonly size: number;
}

/** Of "RL Finetunes Small Subnetworks": |Δ| up to this counts as none. */
export const tolerance = 1e-5;

/** A float32's bits as bfloat16 has them: the upper 16, to the nearest, ties to even. NaN stays NaN. */
export const bfloat16 = (bits: number): number =>
  (bits & 0x7fffffff) > 0x7f800000
    ? (bits >>> 16) | 0x40
    : ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;

/** Both zeros are the same number. */
export const seenApart = (a: number, b: number): boolean => {
  const [one, other] = [bfloat16(a), bfloat16(b)];
  return one !== other && ((one | other) & 0x7fff) !== 0;
};

export const bitsOf = (values: Float32Array): Uint32Array =>
  new Uint32Array(values.buffer, values.byteOffset, values.length);

export function movementOf(before: Float32Array, after: Float32Array): Movement {
  const [a, b] = [bitsOf(before), bitsOf(after)];
  let [moved, visible, change, size] = [0, 0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    const own = before[i]!;
    size += own * own;
    if (a[i] === b[i]) continue;
    const delta = after[i]! - own;
    change += delta * delta;
    if (Math.abs(delta) > tolerance) moved++;
    if (seenApart(a[i]!, b[i]!)) visible++;
  }
  return { parameters: a.length, moved, visible, change, size };
}

export function together(all: readonly Movement[]): Movement {
  const sum = (of: (one: Movement) => number): number => all.reduce((total, one) => total + of(one), 0);
  return {
    parameters: sum(({ parameters }) => parameters),
    moved: sum(({ moved }) => moved),
    visible: sum(({ visible }) => visible),
    change: sum(({ change }) => change),
    size: sum(({ size }) => size),
  };
}
