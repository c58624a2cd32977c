/** A folder with TensorBoard's event files: one run, however many files its writers have begun. */
import { basename, join } from "node:path";
import { isObject, type JsonObject } from "../../../../shared/lib/json.ts";
import { parseJson } from "../../../../shared/rollouts/rollouts.ts";
import { fileNames } from "../foreignFiles.ts";
import { eventValues, tfRecord } from "./eventFile.ts";
import { newestWrite, sliceBytes, type Feed, type FeedAbout, type FeedPart, type FeedSlice } from "./feed.ts";
import { RecordTail } from "../../../lib/growing/recordTail.ts";
import { StepParts } from "./stepParts.ts";
import { TrackerNames } from "./trackerNames.ts";

export const eventFile = /^events\.out\.tfevents\./;

/** transformers' callback and others write the settings as a text. */
const settings = /^(args|config|hparams|hyperparameters)\/text_summary$/;

export class TensorboardFeed implements Feed {
  readonly trainer = "tensorboard";
  private readonly tails = new Map<
    string,
    { readonly tail: RecordTail; readonly plugins: Map<string, string> }
  >();
  private readonly names = new TrackerNames();
  private config: JsonObject | undefined;
  private started: number | undefined;
  private unread = 0;

  /** @param isOurs which of the folder's event files are read */
  constructor(
    private readonly folder: string,
    private readonly isOurs: (name: string) => boolean = () => true,
  ) {}

  about(): FeedAbout {
    const damage = [...this.tails.values()].flatMap(({ tail }) => tail.damage ?? []);
    return {
      version: null,
      groups: "none",
      copies: false,
      name: basename(this.folder),
      notes: [
        ...damage,
        ...(this.unread > 0 ? [`${this.unread} records are no events and were left out`] : []),
      ],
      ...(this.config === undefined ? {} : { config: this.config }),
      ...(this.started === undefined ? {} : { started: this.started }),
    };
  }

  next(): FeedSlice {
    for (const name of fileNames(this.folder).sort())
      if (eventFile.test(name) && this.isOurs(name) && !this.tails.has(name))
        this.tails.set(name, { tail: new RecordTail(join(this.folder, name), tfRecord), plugins: new Map() });
    const parts = new StepParts();
    let bytes = 0;
    let more = false;
    for (const { tail, plugins } of this.tails.values()) {
      const read = tail.next(sliceBytes);
      bytes += read.bytes;
      more ||= read.more;
      for (const payload of read.payloads) this.take(payload, plugins, parts);
    }
    return { parts: parts.all(), bytes, more };
  }

  written(): number {
    return newestWrite([...this.tails.values()].map(({ tail }) => tail.file));
  }

  close(): void {
    this.tails.clear();
  }

  private take(payload: Buffer, plugins: Map<string, string>, parts: StepParts): void {
    try {
      const { step, time, scalars, texts } = eventValues(payload, plugins);
      this.started ??= time;
      parts.add(step, time, this.names.values(scalars));
      for (const [tag, text] of Object.entries(texts)) if (settings.test(tag)) this.settings(text);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.unread++;
    }
  }

  private settings(text: string): void {
    try {
      const value = parseJson(text.trim());
      if (isObject(value)) this.config = value;
    } catch {
      // a text that is no JSON: it stays where it is
    }
  }
}

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

/** Event files next to rollouts, as OpenRLHF writes them in an exported project. */
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
