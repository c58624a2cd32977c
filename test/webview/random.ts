/** Numbers in [−1, 1) that are the same in every run of the tests (a multiply-with-carry stream). */
export function numberStream(seed: number): () => number {
  let [high, low] = [(seed * 2654435761) >>> 0 || 1, (seed * 40503 + 12345) >>> 0];
  let warm = 12;
  const next = (): number => {
    high = (36969 * (high & 0xffff) + (high >>> 16)) >>> 0;
    low = (18000 * (low & 0xffff) + (low >>> 16)) >>> 0;
    return (((high << 16) + (low & 0xffff)) >>> 0) / 2 ** 31 - 1;
  };
  while (warm-- > 0) next();
  return next;
}
