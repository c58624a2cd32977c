/** TensorBoard's event files next to rollouts, as OpenRLHF writes them in an exported project. */
import { join } from "node:path";
import type { FeedPart } from "./feed.ts";
import { eventFile, TensorboardFeed } from "./tensorboardFeed.ts";

interface EventFile {
  readonly path: string;
  readonly feed: TensorboardFeed;
  /** Steps from here on were trained again. */
  readonly before: number;
}

/** When a file was begun: its name says it in seconds. */
export function eventFileBegan(name: string): number | undefined {
  const seconds = eventFile.test(name) ? /\d+/.exec(name)?.[0] : undefined;
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

export class EventMetrics {
  private readonly known = new Map<string, EventFile>();

  constructor(private readonly folder: string) {}

  has(name: string): boolean {
    return this.known.has(name);
  }

  add(name: string, before: number): void {
    const feed = new TensorboardFeed(this.folder, (one) => one === name);
    this.known.set(name, { path: join(this.folder, name), feed, before });
  }

  next(): FeedPart[] {
    return [...this.known.values()].flatMap(({ feed, before }) =>
      feed.next().parts.filter(({ step }) => step < before),
    );
  }

  get files(): readonly string[] {
    return [...this.known.values()].map(({ path }) => path);
  }
}
