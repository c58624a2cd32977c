/** Following a folder of another machine: before each look at its mirror, what is new is brought; where that machine does not answer, it is asked again. */
import { setTimeout as wait } from "node:timers/promises";
import { formatBytes, plural } from "../../../../shared/lib/format.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { EventRecord } from "../../../../shared/log/records.ts";
import type { FeedSlice } from "./feed.ts";

interface Brought {
  /** Files that grew before and were written again since. */
  readonly rewritten: readonly string[];
  /** Files that are left out because of their size. */
  readonly leftOut: readonly { readonly path: string; readonly bytes: number }[];
}

/** What brings the folder here. */
export interface RemoteFolder {
  /** The machine, as messages have it. */
  readonly name: string;
  /** @throws UserError with the code `site-unreachable` where asking again later may help */
  pull(signal: AbortSignal): Promise<Brought>;
}

export type FollowEvent = Omit<EventRecord, "kind" | "step" | "time">;

/** Milliseconds until it is asked again: doubled each time. */
const [firstWait, longestWait] = [1_000, 60_000];
/** Milliseconds between looks: more where a look takes long. */
const [leastBetween, mostBetween, lookShare] = [1_000, 10_000, 4];

export class RemoteLooks {
  /** Milliseconds until the next look. */
  every = leastBetween;
  private tell: ((event: FollowEvent) => void) | undefined;
  private readonly early: FollowEvent[] = [];
  private lost = false;
  private newest = Number.NEGATIVE_INFINITY;
  /** Since the machine answers again: steps that it had made, and files that it had written again. */
  private caught: { readonly steps: Set<number>; readonly rewritten: Set<string> } | undefined;

  constructor(
    private readonly remote: RemoteFolder,
    private readonly signal: AbortSignal,
  ) {}

  /** @param tell records an event: from here on, and what there was to say before */
  begin(tell: (event: FollowEvent) => void): void {
    this.tell = tell;
    for (const event of this.early.splice(0)) tell(event);
  }

  /** Returns when all that is new is here, or following was stopped. @throws what asking again does not help against */
  async look(): Promise<void> {
    const pulled = await this.ask(() => this.pull());
    if (pulled === undefined) return;
    for (const path of pulled.rewritten) this.caught?.rewritten.add(path);
    const { leftOut } = pulled;
    if (leftOut.length === 0) return;
    const files = leftOut.slice(0, 5).map(({ path, bytes }) => `${path} (${formatBytes(bytes)})`);
    this.say({
      severity: "warning",
      name: "site-left-out",
      message: `Left out because of their size: ${files.join(", ")}${leftOut.length > 5 ? ", …" : ""}.`,
    });
  }

  /**
   * Asks the machine until it answers.
   * @returns undefined: following was stopped
   * @throws what asking again does not help against
   */
  async ask<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
    for (let next = firstWait; !this.signal.aborted; next = Math.min(2 * next, longestWait)) {
      try {
        const answer = await ask();
        if (this.lost) this.regain();
        return answer;
      } catch (error) {
        if (this.signal.aborted) return undefined;
        if (!(error instanceof UserError) || error.detail.code !== "site-unreachable") throw error;
        this.lose(error);
      }
      await wait(next, undefined, { signal: this.signal }).catch(() => undefined);
    }
    return undefined;
  }

  /** What the feed made of what was brought. */
  took({ parts, more }: FeedSlice): void {
    for (const { step } of parts) if (step > this.newest) this.caught?.steps.add(step);
    if (more) return;
    this.newest = Math.max(this.newest, ...parts.map(({ step }) => step), ...(this.caught?.steps ?? []));
    if (this.caught === undefined) return;
    const { steps, rewritten } = this.caught;
    this.caught = undefined;
    const again = [...rewritten].slice(0, 3).join(", ");
    const rest = again === "" ? "no gap" : `and ${again} was written again meanwhile`;
    this.say({
      severity: "info",
      name: "site-answers",
      message: `${this.remote.name} answers again: caught up ${plural(steps.size, "step")}, ${rest}`,
    });
  }

  private async pull(): Promise<Brought> {
    const began = performance.now();
    const brought = await this.remote.pull(this.signal);
    this.every = Math.min(mostBetween, Math.max(leastBetween, lookShare * (performance.now() - began)));
    return brought;
  }

  /** It answers again: what it has done meanwhile is counted. */
  private regain(): void {
    this.caught = { steps: new Set(), rewritten: new Set() };
    this.lost = false;
  }

  /** Once, until it answers again. */
  private lose(error: UserError): void {
    if (this.lost) return;
    this.lost = true;
    const { action } = error.detail;
    this.say({
      severity: "warning",
      name: "site-unreachable",
      message: `${error.message.replace(/\.$/, "")}; trying again`,
      ...(action === undefined ? {} : { action }),
    });
  }

  private say(event: FollowEvent): void {
    if (this.tell === undefined) this.early.push(event);
    else this.tell(event);
  }
}
