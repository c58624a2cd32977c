/** Numbers that mean names: of series, of prompts, and of rows within a step. Inside a transaction only. */
import { createHash } from "node:crypto";
import type { Statements } from "../drivers/statements.ts";

type Numbered = "grp" | "rollout" | "event" | "evaluation" | "checkpoint" | "stage" | "task" | "placed";

export class Ids {
  private readonly seriesIds = new Map<string, number>();
  private readonly promptIds = new Map<string, number>();
  /** The prompt asked for last: a group's rollouts come one after the other. */
  private lastPrompt: { readonly run: string; readonly text: string; readonly id: number } | undefined;
  /** The next ordinal of the step that each table was last asked for. */
  private readonly ordinals = new Map<Numbered, Counter>();

  constructor(private readonly statements: Statements) {}

  /** Ids found inside a transaction that was rolled back, or of a deleted run, would be wrong: they are looked up again. */
  forget(): void {
    this.seriesIds.clear();
    this.promptIds.clear();
    this.lastPrompt = undefined;
    this.ordinals.clear();
  }

  series(run: string, name: string): number {
    const key = `${run}\0${name}`;
    const known = this.seriesIds.get(key);
    if (known !== undefined) return known;
    this.statements.run("INSERT OR IGNORE INTO series(run, name) VALUES (?, ?)", run, name);
    return remember(
      this.seriesIds,
      key,
      idOf(this.statements.of("SELECT id FROM series WHERE run = ? AND name = ?").get(run, name)),
    );
  }

  prompt(run: string, text: string): number {
    const last = this.lastPrompt;
    if (last?.run === run && last.text === text) return last.id;
    const id = this.promptByHash(run, text);
    this.lastPrompt = { run, text, id };
    return id;
  }

  private promptByHash(run: string, text: string): number {
    const hash = createHash("sha1").update(text).digest();
    const key = `${run}\0${hash.toString("latin1")}`;
    const known = this.promptIds.get(key);
    if (known !== undefined) return known;
    this.statements.run("INSERT OR IGNORE INTO prompt(run, hash, text) VALUES (?, ?, ?)", run, hash, text);
    return remember(
      this.promptIds,
      key,
      idOf(this.statements.of("SELECT id FROM prompt WHERE run = ? AND hash = ?").get(run, hash)),
    );
  }

  /** The next free number of a kind in a step: several commits may name one step. */
  ordinal(table: Numbered, run: string, attempt: number, step: number): number {
    const counter = this.ordinals.get(table);
    if (counter?.run === run && counter.attempt === attempt && counter.step === step) return counter.next++;
    const next = this.firstFree(table, run, attempt, step);
    this.ordinals.set(table, { run, attempt, step, next: next + 1 });
    return next;
  }

  private firstFree(table: Numbered, run: string, attempt: number, step: number): number {
    const row: unknown = this.statements
      .of(
        `SELECT coalesce(max(ordinal), -1) + 1 AS id FROM ${table} WHERE run = ? AND attempt = ? AND step = ?`,
      )
      .get(run, attempt, step);
    return idOf(row);
  }
}

interface Counter {
  readonly run: string;
  readonly attempt: number;
  readonly step: number;
  next: number;
}

const idOf = (row: unknown): number => (row as { readonly id: number }).id;

function remember(ids: Map<string, number>, key: string, id: number): number {
  if (ids.size > 50_000) ids.clear();
  ids.set(key, id);
  return id;
}
