/** A framework's configuration: its settings over the framework's defaults, and which of them were understood. */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import type { ScriptReward } from "../readers/trl/scriptRewards.ts";
import { isObject } from "../text/values.ts";
import { compareVersions } from "../text/releaseOrder.ts";

export interface Unmapped {
  readonly key: string;
  readonly value: Json;
  readonly reason: string;
}

/** What a text says besides its settings. */
interface Context {
  /** The configuration's own: relative paths begin in its folder. */
  readonly file: string;
  /** Those that a Python script lists; undefined elsewhere. */
  readonly rewards?: readonly ScriptReward[] | undefined;
  /** Columns that it gives the rows that it builds, among other words. */
  readonly columns?: readonly string[] | undefined;
  /** The release that it certainly runs with. */
  readonly release?: string | undefined;
}

export class Settings {
  readonly file: string;
  readonly rewards: readonly ScriptReward[] | undefined;
  readonly columns: readonly string[];
  readonly release: string | undefined;
  private readonly understood = new Set<string>();
  private readonly lost: Unmapped[] = [];
  private replaced = false;

  /**
   * @param written dotted key → value, the last one written
   * @param defaults the framework's, where one matters
   */
  constructor(
    private readonly written: ReadonlyMap<string, Json>,
    private readonly defaults: JsonObject,
    { file, rewards, columns = [], release }: Context,
  ) {
    this.file = file;
    this.rewards = rewards;
    this.columns = columns;
    this.release = release;
  }

  /** Whether the config has a placeholder for the reward that trains. */
  get rewardReplaced(): boolean {
    return this.replaced;
  }

  /** Negative where the release is known and before this one, positive or 0 where it is known and not; NaN where it is not known. */
  comparedWith(release: string): number {
    return this.release === undefined ? NaN : compareVersions(this.release, release);
  }

  has(key: string): boolean {
    return this.written.has(key);
  }

  /** Whether its value is the framework's default. */
  isDefault(key: string): boolean {
    return !this.written.has(key) && this.defaults[key] !== undefined;
  }

  /** The value, marked as understood. */
  get(key: string): Json | undefined {
    this.understood.add(key);
    return this.peek(key);
  }
  peek(key: string): Json | undefined {
    const value = this.written.get(key);
    return value === undefined ? this.defaults[key] : value;
  }

  number(key: string): number | undefined {
    const value = this.get(key);
    if (typeof value === "number") return value;
    if (typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value)))
      return Number(value);
    if (value !== undefined && value !== null) this.refuse(key, "not a readable number");
    return undefined;
  }
  /** The framework's default, where it is a number. */
  usual(key: string): number | undefined {
    const fallback = this.defaults[key];
    return typeof fallback === "number" ? fallback : undefined;
  }
  /** A number that has a default in the framework. */
  need(key: string): number {
    return this.number(key) ?? this.usual(key) ?? 0;
  }
  text(key: string): string | undefined {
    const value = this.get(key);
    return value === undefined || value === null || typeof value === "object" ? undefined : String(value);
  }
  flag(key: string): boolean {
    const value = this.get(key);
    return value === true || value === 1 || value === "true" || value === "True";
  }
  list(key: string): readonly Json[] | undefined {
    const value = this.get(key);
    return Array.isArray(value) ? value : value === undefined || value === null ? undefined : [value];
  }

  /** What is written below a key, marked as understood; undefined where nothing is. */
  below(key: string): JsonObject | undefined {
    const own = this.get(key);
    const entries = [...this.written].filter(([name]) => name.startsWith(`${key}.`));
    for (const [name] of entries) this.understood.add(name);
    if (entries.length === 0) return isObject(own) && Object.keys(own).length > 0 ? own : undefined;
    return nested(entries.map(([name, value]) => [name.slice(key.length + 1), value]));
  }

  /** The setting has no counterpart, or only a part of one. */
  refuse(key: string, reason: string, value: Json = this.peek(key) ?? null): void {
    this.understood.add(key);
    if (!this.lost.some((entry) => entry.key === key && entry.reason === reason))
      this.lost.push({ key, value, reason });
  }

  /** As `refuse`, of the reward that trains: a placeholder is in its place. */
  replaceReward(key: string, reason: string, value?: Json): void {
    this.refuse(key, reason, value);
    this.replaced = true;
  }

  /** Every setting without a counterpart, in the order of the file; nulls are skipped. */
  unmapped(reasonOf: (key: string) => string): Unmapped[] {
    const rest = [...this.written]
      .filter(([key, value]) => !this.understood.has(key) && value !== null)
      .map(([key, value]) => ({ key, value, reason: reasonOf(key) }));
    return [...this.lost, ...rest];
  }
}

/** `{ "a.b": 1 }` as `{ a: { b: 1 } }`. */
export function nested(entries: readonly (readonly [string, Json])[]): JsonObject {
  const firsts = [...new Set(entries.map(([path]) => path.split(".")[0] ?? ""))];
  return Object.fromEntries(
    firsts.map((first): [string, Json] => {
      const own = entries.find(([path]) => path === first);
      const inner = entries.flatMap(([path, value]): [string, Json][] =>
        path.startsWith(`${first}.`) ? [[path.slice(first.length + 1), value]] : [],
      );
      return [first, inner.length === 0 ? (own?.[1] ?? null) : nested(inner)];
    }),
  );
}

/** The first reason whose pattern fits the key. */
export const reasonBy =
  (table: readonly (readonly [RegExp, string])[], otherwise: string) =>
  (key: string): string =>
    table.find(([pattern]) => pattern.test(key))?.[1] ?? otherwise;
