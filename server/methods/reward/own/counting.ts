/** In a reward's process: counts which marks of a covered bundle its calls reach. */
import { marks, type FromHost, type ScoreInput } from "./wire.ts";

type Score = (input: ScoreInput) => unknown;

export class Counting {
  private readonly seen = new Set<number>();
  private loading: ReadonlySet<number> = new Set();
  private readonly counts = new Map<number, number>();
  private rollouts = 0;
  private returned: number | null = null;

  /** Before the bundle is imported: its marks call these. */
  constructor() {
    Object.assign(globalThis, {
      [marks.line]: (number: number): void => void this.seen.add(number),
      [marks.returned]: (number: number, value: unknown): unknown => {
        this.returned = number;
        return value;
      },
    });
  }

  counted(score: Score): Score {
    this.loading = new Set(this.seen);
    return async (input) => {
      this.seen.clear();
      this.returned = null;
      try {
        return await score(input);
      } finally {
        this.rollouts += 1;
        for (const number of this.seen) this.counts.set(number, (this.counts.get(number) ?? 0) + 1);
      }
    };
  }

  /** Since this was asked last. */
  reached(): FromHost {
    const { rollouts, returned } = this;
    const counts = [...this.counts];
    this.counts.clear();
    this.rollouts = 0;
    return { kind: "reached", rollouts, counts, loading: [...this.loading], returned };
  }
}
