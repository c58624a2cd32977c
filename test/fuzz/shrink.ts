/** Makes a text that goes wrong as short as it gets, by leaving out lines and then characters. */
export interface Shrunk {
  readonly text: string;
  readonly at: number;
}

/** `fails` is asked at most `most` times. */
export async function shrink(
  { text, at }: Shrunk,
  fails: (candidate: Shrunk) => Promise<boolean>,
  most = 150,
): Promise<Shrunk> {
  let best: Shrunk = { text, at };
  let asked = 0;
  for (const splitter of [/(?<=\n)/, /(?<=[ ,{}[\]:])/]) {
    let parts = best.text.split(splitter);
    for (let size = Math.ceil(parts.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let from = 0; from < parts.length && asked < most;) {
        const candidate = without(parts, from, size, best.at);
        asked += 1;
        if (await fails(candidate)) {
          best = candidate;
          parts = [...parts.slice(0, from), ...parts.slice(from + size)];
        } else from += size;
      }
    }
  }
  return best;
}

/** The place that is asked about moves with its text. */
function without(parts: readonly string[], from: number, size: number, at: number): Shrunk {
  const start = parts.slice(0, from).join("").length;
  const length = parts.slice(from, from + size).join("").length;
  const text = [...parts.slice(0, from), ...parts.slice(from + size)].join("");
  return { text, at: at >= start + length ? at - length : Math.min(at, start) };
}
