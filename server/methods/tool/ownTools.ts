/** A tool in a file of the user's: some processes, each asked one thing at a time; an episode keeps to one of them. */
import { basename } from "node:path";
import type { JsonObject } from "../../../shared/lib/json.ts";
import type { Tool, ToolContext, Tools } from "../../core/slots/tool.ts";
import { taskJson } from "../../core/task.ts";
import { OwnObject, type OpenObject, type OwnObjectOptions } from "../../lib/own/ownObject.ts";
import type { Prepared } from "../../lib/own/prepared.ts";

interface Place {
  object: Promise<OpenObject> | undefined;
  /** The call before. */
  before: Promise<unknown>;
}

export class OwnTools implements Tools {
  private readonly own: OwnObject;
  private readonly places: readonly Place[];
  /** Which place an episode's calls go to. */
  private readonly byEpisode = new Map<string, Place>();
  private given = 0;

  constructor(
    private readonly options: Omit<OwnObjectOptions, "role" | "owner">,
    processes: number,
  ) {
    this.own = new OwnObject({
      ...options,
      role: "tool",
      owner: {
        what: "tool",
        key: "use",
        missing: "tool-missing",
        build: "tool-build",
        python: "tool-python",
        load: "tool-load",
      },
    });
    this.places = Array.from({ length: processes }, () => ({ object: undefined, before: Promise.resolve() }));
  }

  get made(): Prepared | undefined {
    return this.own.made;
  }

  async open(): Promise<readonly Tool[]> {
    const { tools } = await this.own.look();
    return tools.map((spec) => ({
      ...spec,
      // A default export has no name of its own: the file's is its.
      name: spec.name === "default" ? basename(this.options.file).replace(/\.\w+$/, "") : spec.name,
      call: (args, context) => this.call(args, context),
    }));
  }

  ended(episode: string): void {
    this.byEpisode.delete(episode);
  }

  async close(): Promise<void> {
    await Promise.all([
      this.own.close(),
      ...this.places.map(async (place) => {
        // Whoever called was given the failure of one that did not start.
        const object = await place.object?.catch(() => undefined);
        place.object = undefined;
        await object?.close();
      }),
    ]);
  }

  private call(args: JsonObject, { episode, task, signal }: ToolContext): Promise<string> {
    const place = this.byEpisode.get(episode) ?? this.places[this.given++ % this.places.length]!;
    this.byEpisode.set(episode, place);
    const asked = place.before.then(async () => {
      signal?.throwIfAborted();
      const object = await (place.object ??= this.own.open());
      const about = task === undefined ? {} : { task: taskJson(task) };
      const value = await object.ask({ kind: "call", args, episode, ...about }, signal);
      return typeof value === "string" ? value : JSON.stringify(value);
    });
    // The caller gets the failure; the next call only has to know that this one is over.
    place.before = asked.catch(() => undefined);
    return asked;
  }
}
