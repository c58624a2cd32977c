/** What a run is among others: which config it is of, in what it differs from that config's first run, what people say of it. */
import type { JsonObject } from "../../../shared/lib/json.ts";
import type { RunSummary } from "../../../shared/protocol/protocol.ts";
import { readMarks } from "../../../shared/run/marks.ts";
import { runLabel } from "../../analysis/compare/label.ts";
import { readParent, runFolder } from "../files.ts";
import type { RunState } from "../ingest/runState.ts";
import { isRunIdSql, row, type Statements } from "../drivers/statements.ts";

type Facts = Pick<RunSummary, "label" | "seed" | "parent" | "tags" | "note" | "pinned" | "archived">;
interface FirstRun {
  readonly id: string;
  /** Of its config's text. */
  readonly length: number;
  readonly config: JsonObject;
}

export class ExperimentFacts {
  /** By run: configs change only until the log's first record is read. */
  private readonly labels = new Map<string, { readonly of: string; readonly label: string }>();
  /** By config. */
  private readonly firsts = new Map<string, FirstRun>();
  private readonly parents = new Map<string, RunSummary["parent"]>();

  constructor(
    private readonly statements: Statements,
    private readonly store: string,
  ) {}

  of(run: RunState): Facts {
    const folder = runFolder(this.store, run.id);
    const { tags, note, pinned, archived } = readMarks(folder);
    const parent = this.parentOf(run.id, folder);
    const label = this.label(run);
    return {
      ...(label === "" ? {} : { label }),
      ...(run.seed === null ? {} : { seed: run.seed }),
      ...(parent === undefined ? {} : { parent }),
      ...(tags.length === 0 ? {} : { tags }),
      ...(note === "" ? {} : { note }),
      ...(pinned ? { pinned } : {}),
      ...(archived ? { archived } : {}),
    };
  }

  private parentOf(id: string, folder: string): RunSummary["parent"] {
    if (!this.parents.has(id)) this.parents.set(id, readParent(folder));
    return this.parents.get(id);
  }

  private label(run: RunState): string {
    if (run.config === "{}") return "";
    const first = this.firstOf(run.file);
    if (first === undefined || first.id === run.id) return "";
    const of = `${first.id} ${first.length} ${run.config.length}`;
    const known = this.labels.get(run.id);
    if (known?.of === of) return known.label;
    const label = runLabel(parse(run.config), first.config);
    this.labels.set(run.id, { of, label });
    return label;
  }

  /** The config's first run, its tree read once: a config has many runs. */
  private firstOf(file: string): FirstRun | undefined {
    const found = row<{ id: string; length: number }>(
      this.statements
        .of(
          `SELECT id, length(config) AS length FROM run WHERE file = ? AND config <> '{}' AND ${isRunIdSql("id")} ORDER BY created_at, id LIMIT 1`,
        )
        .get(file),
    );
    if (found === undefined) return undefined;
    const known = this.firsts.get(file);
    if (known?.id === found.id && known.length === found.length) return known;
    const text = row<{ config: string }>(
      this.statements.of("SELECT config FROM run WHERE id = ?").get(found.id),
    )!.config;
    const first = { ...found, config: parse(text) };
    this.firsts.set(file, first);
    return first;
  }
}

const parse = (text: string): JsonObject => JSON.parse(text);
