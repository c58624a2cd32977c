/** The environments of a task source, each for one episode at a time. */
import type { Environment, Environments } from "../../core/slots/environment.ts";

/** Environments that are kept for the next episodes, where their number has no bound. */
const mostIdle = 256;

export class EnvironmentPool {
  private readonly idle: Environment[] = [];
  private held = 0;
  private readonly waiting: (() => void)[] = [];
  private ended = false;
  private readonly closing = new Set<Promise<unknown>>();

  constructor(readonly environments: Environments) {}

  /**
   * One that no episode is in; waits for one where as many are open as may be.
   * @param signal of those who ask: after it none is opened
   * @throws what opening throws; the signal's reason
   */
  async take(signal?: AbortSignal): Promise<Environment> {
    const { most = Number.POSITIVE_INFINITY } = this.environments;
    while (this.idle.length === 0 && this.held >= most)
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    if (signal?.aborted === true) {
      this.waiting.shift()?.();
      throw signal.reason;
    }
    const kept = this.idle.pop();
    if (kept !== undefined) return kept;
    this.held += 1;
    try {
      return await this.environments.open();
    } catch (error) {
      this.held -= 1;
      this.waiting.shift()?.();
      throw error;
    }
  }

  /** @param usable another episode may begin in it; else it is closed, and nobody waits for that */
  give(environment: Environment, usable: boolean): void {
    const { most = mostIdle } = this.environments;
    if (usable && !this.ended && this.idle.length < most) this.idle.push(environment);
    else {
      this.held -= 1;
      this.close(environment);
    }
    this.waiting.shift()?.();
  }

  private close(environment: Environment): void {
    const closed: Promise<unknown> = Promise.allSettled([environment.close()]).then(() =>
      this.closing.delete(closed),
    );
    this.closing.add(closed);
  }

  /** What is open, or still opens, is closed. */
  async end(): Promise<void> {
    this.ended = true;
    for (const environment of this.idle.splice(0)) {
      this.held -= 1;
      this.close(environment);
    }
    // What does not close of itself ends with the processes that the environments hold.
    await Promise.race([
      Promise.all(this.closing),
      new Promise((resolve) => setTimeout(resolve, 2000).unref()),
    ]);
    await this.environments.close?.();
  }
}
