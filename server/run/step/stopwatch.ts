/** Wall time by phase, for the `time/<phase>` metrics. */
export class Stopwatch {
  private readonly seconds = new Map<string, number>();
  private readonly start = performance.now();
  /** Milliseconds that count for no phase and not for the total. */
  private left = 0;

  /** Runs the work and adds its time to the phase. */
  async time<Result>(phase: string, work: () => Result | Promise<Result>): Promise<Result> {
    const began = this.now();
    try {
      return await work();
    } finally {
      this.seconds.set(phase, (this.seconds.get(phase) ?? 0) + (this.now() - began) / 1000);
    }
  }
  /** Waits without the time being anybody's. */
  async without(wait: () => Promise<void>): Promise<void> {
    const began = performance.now();
    try {
      await wait();
    } finally {
      this.left += performance.now() - began;
    }
  }
  private now(): number {
    return performance.now() - this.left;
  }

  /** `time/<phase>` for each phase, and `time/total` since the stopwatch was made. */
  metrics(): Record<string, number> {
    const phases = [...this.seconds].map(([phase, seconds]) => [`time/${phase}`, seconds]);
    return { ...Object.fromEntries(phases), "time/total": (this.now() - this.start) / 1000 };
  }
}
