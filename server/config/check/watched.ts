/**
 * A config that tells when a value is read that was put aside: keys as a person writes them, two levels deep. What
 * nothing was put aside of is not watched. The plain form, each rule declaring the keys that it reads, would write down
 * again what every rule's code says already, and a key that one forgets would be a wrong diagnostic that no test notices.
 */
import { neverOnce } from "../../lib/perObject.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import type { StageBody } from "../../core/config/resolved.ts";

/** `a.b.c`, `a.b`, `a` and what holds them all. */
function* withAbove(key: string): Generator<string> {
  yield key;
  for (let at = key.lastIndexOf("."); at >= 0; at = at === 0 ? -1 : key.lastIndexOf(".", at - 1))
    yield key.slice(0, at);
  yield "";
}

/** Knows which values were put aside, and whether one of them was asked for. */
export class Watch {
  touched = false;

  private readonly aside: ReadonlySet<string>;
  /** With what holds them. */
  private readonly holders: ReadonlySet<string>;

  constructor(aside: readonly string[]) {
    this.aside = new Set(aside);
    this.holders = new Set(aside.flatMap((path) => [...withAbove(path)]));
  }

  /** Whether a value is one of those, or holds or lies in one. */
  concerns(key: string): boolean {
    return this.holders.has(key) || [...withAbove(key)].some((above) => this.aside.has(above));
  }

  ask(key: string): void {
    if (!this.touched) this.touched = this.concerns(key);
  }
}

/** Where a built value is read from under another name than its key. */
const writtenAs: Readonly<Record<string, string>> = {
  "curriculum.refill": "curriculum.admission",
  "objective.loss": "objective",
  "replay.source": "replay",
  "update.schedule": "update.optimizer",
};

export function watchedConfig(config: RunConfig, watch: Watch): RunConfig {
  const stages = config.stages.map((stage) => watchedStage(stage, watch));
  const top = watchedBody(config.top, watch, [""]);
  return spied(config, (key, value) => {
    if (key === "stages") return stages;
    if (key === "top") return top;
    if (key === "tree") watch.ask("");
    else if (key === "evaluation" || key === "checkpoint") return watchedBlock(value, key, watch, [""]);
    else watch.ask(key);
    return value;
  });
}

export function watchedStage(stage: StageConfig, watch: Watch): StageConfig {
  const prefix = `stages.${stage.name}.`;
  const body = watchedBody(stage.body, watch, ["", prefix]);
  const own = watch.concerns(`stages.${stage.name}`) || watch.concerns("steps");
  if (!own) return body === stage.body ? stage : { ...stage, body };
  return spied(stage, (key, value) => {
    if (key === "body") return body;
    watch.ask(`${prefix}${key}`);
    if (key === "steps") watch.ask("steps");
    return value;
  });
}

function watchedBody(body: StageBody, watch: Watch, prefixes: readonly string[]): StageBody {
  const isWatched = (block: string): boolean =>
    prefixes.some((prefix) => watch.concerns(`${prefix}${block}`));
  if (!Object.keys(body).some(isWatched)) return body;
  const made = new Map<string, unknown>();
  return spied(body, (block, value) => {
    if (!isWatched(block)) return value;
    // Which members a list has: of interest where all of it was put aside.
    if (Array.isArray(value)) for (const prefix of prefixes) watch.ask(`${prefix}${block}.#`);
    if (!made.has(block)) made.set(block, watchedBlock(value, block, watch, prefixes));
    return made.get(block);
  });
}

/** Members of lists count once they are looked into. */
function watchedBlock(block: unknown, path: string, watch: Watch, prefixes: readonly string[]): unknown {
  const say = (key: string): void => {
    for (const prefix of prefixes) watch.ask(`${prefix}${key}`);
  };
  if (Array.isArray(block)) return block.map((item, index) => watchedItem(item, path, index, say));
  if (!isObject(block)) return block;
  const made = new Map<string, unknown>();
  return spied(block, (key, value) => {
    const full = `${path}.${key}`;
    if (full === "reward.terms") {
      say(`${full}.#`);
      if (!made.has(key)) made.set(key, watchedBlock(value, full, watch, prefixes));
      return made.get(key);
    }
    say(writtenAs[full] ?? full);
    if (full === "evaluation.samples") say("evaluation.pass_at");
    return value;
  });
}

/** A task is known by its method where it has no name, a term always by its key. */
function watchedItem(item: unknown, path: string, index: number, say: (key: string) => void): unknown {
  if (!isObject(item)) return item;
  const name = typeof item["name"] === "string" ? item["name"] : String(index);
  return spied(item, (key, value) => {
    if (key === "name" && path === "reward.terms") return value;
    say(`${path}.${name}`);
    say(`${path}.${index}`);
    return value;
  });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The same object with each read of a property answered by `read`. */
function spied<Thing extends object>(thing: Thing, read: (key: string, value: unknown) => unknown): Thing {
  return neverOnce(
    new Proxy(thing, {
      get: (target, key, receiver): unknown => {
        const value: unknown = Reflect.get(target, key, receiver);
        return typeof key === "string" ? read(key, value) : value;
      },
    }),
  );
}
