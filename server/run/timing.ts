/** Wall time by phase, for the `time/<phase>` metrics. */
export class Stopwatch {
  private readonly seconds = new Map<string, number>();
  private readonly start = performance.now();

  /** Runs the work and adds its time to the phase. */
  async time<Result>(phase: string, work: () => Result | Promise<Result>): Promise<Result> {
    const began = performance.now();
    try {
      return await work();
    } finally {
      this.seconds.set(phase, (this.seconds.get(phase) ?? 0) + (performance.now() - began) / 1000);
    }
  }

  /** `time/<phase>` for each phase, and `time/total` since the stopwatch was made. */
  metrics(): Record<string, number> {
    const phases = [...this.seconds].map(([phase, seconds]) => [`time/${phase}`, seconds]);
    return { ...Object.fromEntries(phases), "time/total": (performance.now() - this.start) / 1000 };
  }
}
