/** A framework's configuration: its settings over the framework's defaults, and which of them were understood. */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";

export interface Unmapped {
  readonly key: string;
  readonly value: Json;
  readonly reason: string;
}

export class Settings {
  private readonly understood = new Set<string>();
  private readonly lost: Unmapped[] = [];

  /** @param written dotted key → value, the last one written @param defaults the framework's, where one matters */
  constructor(
    private readonly written: ReadonlyMap<string, Json>,
    private readonly defaults: JsonObject,
  ) {}

  has(key: string): boolean {
    return this.written.has(key);
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
  /** A number that has a default in the framework. */
  need(key: string): number {
    const fallback = this.defaults[key];
    return this.number(key) ?? (typeof fallback === "number" ? fallback : 0);
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

  /** The setting has no counterpart, or only a part of one. */
  refuse(key: string, reason: string, value: Json = this.peek(key) ?? null): void {
    this.understood.add(key);
    if (!this.lost.some((entry) => entry.key === key && entry.reason === reason))
      this.lost.push({ key, value, reason });
  }

  /** Every setting without a counterpart, in the order of the file; nulls are skipped. */
  unmapped(reasonOf: (key: string) => string): Unmapped[] {
    const rest = [...this.written]
      .filter(([key, value]) => !this.understood.has(key) && value !== null)
      .map(([key, value]) => ({ key, value, reason: reasonOf(key) }));
    return [...this.lost, ...rest];
  }
}

/** The first reason whose pattern fits the key. */
export const reasonBy =
  (table: readonly (readonly [RegExp, string])[], otherwise: string) =>
  (key: string): string =>
    table.find(([pattern]) => pattern.test(key))?.[1] ?? otherwise;
