/** Weights of several losses from how each went over two windows of steps. */
import type { Saved, Stateful } from "../../core/basics.ts";

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * λ_k = K · softmax(s_k / T) with s_k = μ_k/μ̃_k + σ_k/(μ_k + μ̃_k): μ_k and σ_k of the present window, μ̃_k of the one
 * before. A loss that fell fast has a small ratio and gets little.
 * @param windows per loss, its magnitudes of the two windows
 */
export function lossWeights(
  windows: readonly { readonly before: readonly number[]; readonly now: readonly number[] }[],
  temperature: number,
): number[] {
  const scores = windows.map(({ before, now }) => {
    const [earlier, present] = [meanOf(before), meanOf(now)];
    const spread = Math.sqrt(meanOf(now.map((value) => (value - present) ** 2)));
    const fall = earlier === 0 ? 1 : present / earlier;
    const sum = earlier + present;
    return (fall + (sum === 0 ? 0 : spread / sum)) / temperature;
  });
  const largest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - largest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => (windows.length * power) / total);
}

/** The recent losses of a run, and the weights that follow from them. */
export class Reweighting implements Stateful {
  private readonly seen = new Map<string, number[]>();

  constructor(
    readonly window: number,
    readonly temperature: number,
  ) {}

  observe(name: string, loss: number): void {
    if (!Number.isFinite(loss)) return;
    this.seen.set(name, [...(this.seen.get(name) ?? []), Math.abs(loss)].slice(-2 * this.window));
  }

  /** By the loss's name; empty until two windows of every loss are known. */
  weights(): ReadonlyMap<string, number> {
    const losses = [...this.seen];
    if (losses.some(([, values]) => values.length < 2 * this.window)) return new Map();
    const weights = lossWeights(
      losses.map(([, values]) => ({ before: values.slice(0, this.window), now: values.slice(this.window) })),
      this.temperature,
    );
    return new Map(losses.map(([name], i) => [name, weights[i]!]));
  }

  save(): Saved {
    return {
      json: [...this.seen.keys()],
      arrays: Object.fromEntries(
        [...this.seen.values()].map((values, i) => [String(i), Float64Array.from(values)]),
      ),
    };
  }
  load({ json, arrays = {} }: Saved): void {
    this.seen.clear();
    if (Array.isArray(json))
      json.forEach((name, i) => this.seen.set(String(name), [...(arrays[String(i)] ?? [])]));
  }
}
