/** What a project writes, as the run takes it in: known from its beginning on, whatever is there yet. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Writer } from "../../../shared/run/origin.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { Feed, FeedAbout, FeedSlice } from "../../store/imported/feeds/feed.ts";
import { HookFeed } from "../../store/imported/feeds/hook/hookFeed.ts";

/** By the contract of projects, rollouts and metrics are those of `gradus_hook.py`. */
export class ProjectFeed implements Feed {
  readonly trainer: Writer = "hook";
  private readonly inner: HookFeed;

  /** @param out the mirror of the project's `out/` */
  constructor(
    out: string,
    private readonly config: RunConfig,
  ) {
    const folder = join(out, "gradus-rollouts");
    mkdirSync(folder, { recursive: true });
    this.inner = new HookFeed(folder, { config });
  }

  /** The job says how it ended, and the config how long it is. */
  about(): FeedAbout {
    const { ended: _, ...about } = this.inner.about();
    return { ...about, planned: plannedSteps(this.config) };
  }

  next(last: boolean): FeedSlice {
    return this.inner.next(last);
  }

  written(): number {
    return this.inner.written();
  }

  close(): void {
    this.inner.close();
  }
}

export const plannedSteps = ({ stages }: Pick<RunConfig, "stages">): number =>
  stages.reduce((sum, { kind, steps }) => sum + (kind === "rl" ? steps : 0), 0);
