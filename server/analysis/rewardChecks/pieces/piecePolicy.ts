/**
 * A tiny policy over pieces: the next piece depends on the one before and on its place. It learns by REINFORCE with the
 * batch's mean and spread as baseline and scale (Williams, 1992), which is enough to climb any reward that does not read
 * the task closely.
 */
import type { Random } from "../../../lib/random.ts";

/** Pieces of an answer at most. */
const mostPieces = 6;
const learningRate = 0.6;
/** Share of choices that ignore what was learned: what has never been tried can still be found. */
const exploring = 0.08;

export type Sequence = readonly number[];

export class PiecePolicy {
  /** After each piece (the last row: at the beginning) and at each place; the last column ends the answer. */
  private readonly after: Float64Array[];
  private readonly at: Float64Array[];

  /** @param banned pieces that are never written */
  constructor(
    private readonly pieces: number,
    private readonly random: Random,
    private readonly banned: ReadonlySet<number>,
  ) {
    this.after = Array.from({ length: pieces + 1 }, () => new Float64Array(pieces + 1));
    this.at = Array.from({ length: mostPieces }, () => new Float64Array(pieces + 1));
    // An answer of about three pieces to begin with.
    for (const row of this.at) row[pieces] = Math.log(pieces / 3);
  }

  /** Piece numbers of one answer. */
  write(): Sequence {
    const sequence: number[] = [];
    while (sequence.length < mostPieces) {
      const probabilities = this.probabilities(sequence);
      const explores = this.random.next() < exploring;
      const next = explores
        ? Math.floor(this.random.next() * (this.pieces + 1))
        : drawn(probabilities, this.random);
      if (next === this.pieces) break;
      if (!this.banned.has(next)) sequence.push(next);
    }
    return sequence;
  }

  /** One step of gradient ascent on Σ advantage · log p. */
  learn(sequences: readonly Sequence[], rewards: readonly number[]): void {
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    const spread = Math.sqrt(rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / rewards.length);
    if (spread < 1e-9) return;
    sequences.forEach((sequence, i) => this.push(sequence, ((rewards[i]! - mean) / spread) * learningRate));
  }

  private push(sequence: Sequence, by: number): void {
    const choices = sequence.length < mostPieces ? [...sequence, this.pieces] : sequence;
    choices.forEach((choice, place) => {
      const before = sequence.slice(0, place);
      const probabilities = this.probabilities(before);
      const rows = [this.after[before.at(-1) ?? this.pieces]!, this.at[place]!];
      for (const row of rows) {
        for (let one = 0; one <= this.pieces; one++) row[one]! -= by * 0.1 * probabilities[one]!;
        row[choice]! += by * 0.1;
      }
    });
  }

  private probabilities(before: Sequence): Float64Array {
    const after = this.after[before.at(-1) ?? this.pieces]!;
    const at = this.at[before.length]!;
    const logits = after.map((logit, i) => (this.banned.has(i) ? Number.NEGATIVE_INFINITY : logit + at[i]!));
    const most = Math.max(...logits);
    const weights = logits.map((logit) => Math.exp(logit - most));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return weights.map((weight) => weight / sum);
  }
}

function drawn(probabilities: Float64Array, random: Random): number {
  let left = random.next();
  for (let i = 0; i < probabilities.length; i++) {
    left -= probabilities[i]!;
    if (left < 0) return i;
  }
  return probabilities.length - 1;
}
