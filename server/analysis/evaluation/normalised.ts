/**
 * Scores on the scale of a random and a reference model: (own − random)/(reference − random), 0 as good as random, 1 as the reference.
 * Source: the human-normalised score of Atari's benchmarks (Mnih et al., 2015; "Atari-GPT").
 * @returns of every metric that the three have; those where random and reference are the same are left out
 */
export function normalised(
  own: Readonly<Record<string, number>>,
  reference: Readonly<Record<string, number>>,
  random: Readonly<Record<string, number>>,
): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [name, value] of Object.entries(own)) {
    const [low, high] = [random[name], reference[name]];
    if (low !== undefined && high !== undefined && high !== low) found[name] = (value - low) / (high - low);
  }
  return found;
}
