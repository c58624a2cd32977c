/** Which live runs stand still: they write nothing that would tell the clients. */
import type { RemoteStore } from "../../store/remote.ts";

/** Milliseconds between two looks. */
const pace = 20_000;

export class StalledRuns {
  private readonly known = new Set<string>();
  private looked = 0;

  constructor(private readonly remote: Pick<RemoteStore, "call">) {}

  /** Called as often as one likes. Tells the feed of a run that stops making steps, and of one that goes on. */
  async look(live: Iterable<string>, now = performance.now()): Promise<void> {
    if (now - this.looked < pace) return;
    this.looked = now;
    for (const run of live) {
      const stalled = await this.remote.call("isStalled", run);
      if (stalled === this.known.has(run)) continue;
      if (stalled) this.known.add(run);
      else this.known.delete(run);
      await this.remote.call("marked", run);
    }
  }
}
