/**
 * Llama 3's stretch of slow rotary frequencies. GGUF stores what each frequency is divided by, the model's own config the
 * four numbers that it follows from.
 */
import type { Style } from "../../transformer/weights.ts";
import { shortest } from "./metadata.ts";

type Stretch = Extract<Style["rope_scaling"], { type: "llama3" }>;

/**
 * By what each pair's frequency is divided: 1 where its wave is short, `factor` where it is long, and between them
 * 1 / ((1 − s) / factor + s), s growing with how often the wave fits into the original context.
 */
export function stretchFactors(
  { factor, low_freq_factor, high_freq_factor, original_context }: Stretch,
  theta: number,
  headWidth: number,
): Float32Array {
  const pairs = headWidth / 2;
  return Float32Array.from({ length: pairs }, (_, pair) => {
    const wave = 2 * Math.PI * theta ** (pair / pairs);
    const fits = original_context / wave;
    if (fits > high_freq_factor) return 1;
    if (fits < low_freq_factor) return factor;
    const smooth = (fits - low_freq_factor) / (high_freq_factor - low_freq_factor);
    return 1 / ((1 - smooth) / factor + smooth);
  });
}

/** The numbers that the factors follow from; undefined where they follow from none that Llama 3 models use. */
export function stretchOf(factors: Float32Array, theta: number, headWidth: number): Stretch | undefined {
  const stretch: Stretch = {
    type: "llama3",
    factor: shortest(Math.max(...factors)),
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_context: 8192,
  };
  const expected = stretchFactors(stretch, theta, headWidth);
  const same =
    factors.length === expected.length &&
    factors.every((value, i) => Math.abs(value - expected[i]!) < 1e-3 * expected[i]!);
  return same ? stretch : undefined;
}
