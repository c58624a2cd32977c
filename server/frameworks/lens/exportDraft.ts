/** An engine's settings as they are found, and what of the config has no counterpart among them. */
import { trainers, type ExternalEngine } from "../../../shared/run/trainers.ts";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { valueAt, type Scheduled } from "../../core/schedule.ts";
import type { EngineKeys } from "../../core/config/engineKeys.ts";
import type { Missing } from "./exporter.ts";

/** Small enough for a table in MISSING.md. */
export function shown(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** A method as it was chosen, whatever its slot. */
export interface Chosen {
  readonly declaration: { readonly name: string };
  readonly params: Readonly<Record<string, unknown>>;
}
export const nameOf = ({ declaration }: Chosen): string => declaration.name;

export class SettingsDraft {
  /** As messages call the engine. */
  readonly engine: string;
  private readonly written = new Map<string, Json>();
  private readonly lost: Missing[] = [];

  /**
   * @param table the engine's keys with their defaults
   * @param always written even where the engine has the same default: they are what the algorithm is
   */
  constructor(
    engine: ExternalEngine,
    private readonly table: EngineKeys,
    private readonly always: ReadonlySet<string>,
  ) {
    this.engine = trainers[engine].name;
  }

  set(key: string, value: Json | undefined): void {
    if (value === undefined) return;
    if (!this.always.has(key) && JSON.stringify(this.table.usual(key)) === JSON.stringify(value))
      this.written.delete(key);
    else this.written.set(key, value);
  }

  /** @param reason why, and what happens instead: a sentence */
  miss(key: string, value: unknown, reason: string, changes: Missing["changes"] = "algorithm"): void {
    this.lost.push({ key, value: shown(value), reason, changes });
  }

  /** A number at the first step; that it would move is said. */
  constant(key: string, value: Scheduled): number {
    const start = valueAt(value, { step: 0, stageStep: 0 });
    if (typeof value !== "number")
      this.miss(
        key,
        value,
        `${this.engine} has no schedule for it: it stays at ${start}, its value in the first step.`,
      );
    return start;
  }

  get settings(): JsonObject {
    return Object.fromEntries(this.written);
  }
  get missing(): readonly Missing[] {
    return this.lost;
  }
}
