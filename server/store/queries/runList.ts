/** The list of runs: those that an expression holds for, sorted, with a picture of how each went where it is asked for. */
import type { JsonObject } from "../../../shared/lib/json.ts";
import { mean } from "../../../shared/lib/mean.ts";
import type { ParamsOf, ResultOf, runsList } from "../../../shared/protocol/protocol.ts";
import { compileRunWhere, runKey, type RunView } from "../../analysis/compare/runWhere.ts";
import { isRunIdSql, rows, type Statements } from "../drivers/statements.ts";
import { asRun, type RunState } from "../ingest/runState.ts";
import type { MetricQueries } from "./metricQueries.ts";
import type { RunQueries } from "./runQueries.ts";

/** What a run's picture is of. */
const drawn = "reward/total";

export class RunList {
  /** By run: one that has ended is read once. */
  private readonly pictures = new Map<string, { readonly at: string; readonly points: readonly number[] }>();

  constructor(
    private readonly statements: Statements,
    private readonly runs: RunQueries,
    private readonly metrics: MetricQueries,
  ) {}

  list(asked: Partial<ParamsOf<typeof runsList>> & { readonly limit: number }): ResultOf<typeof runsList> {
    const { limit, where = "", sort, sparks } = asked;
    const everything = `SELECT * FROM run WHERE ${isRunIdSql("id")} ORDER BY created_at DESC, id DESC`;
    const plain = where.trim() === "" && sort === undefined;
    const states = rows<RunState>(
      plain ? this.statements.of(`${everything} LIMIT ?`).all(limit) : this.statements.of(everything).all(),
    ).map(asRun);
    const chosen = plain ? states : this.chosen(states, where, sort).slice(0, limit);
    return {
      runs: chosen.map((run) => ({
        ...this.runs.summaryOf(run),
        ...(sparks === undefined ? {} : { spark: this.picture(run, sparks) }),
      })),
    };
  }

  private chosen(states: readonly RunState[], where: string, sort: string | undefined): RunState[] {
    const holds = where.trim() === "" ? () => true : compileRunWhere(where);
    const descending = sort?.startsWith("-") === true;
    const key = sort === undefined ? undefined : runKey(descending ? sort.slice(1) : sort);
    const kept = states.flatMap((run) => {
      const view = this.view(run);
      return holds(view) ? [{ run, key: key?.(view) }] : [];
    });
    if (key !== undefined) kept.sort((one, other) => order(one.key, other.key, descending));
    return kept.map(({ run }) => run);
  }

  private view(run: RunState): RunView {
    const summary = this.runs.summaryOf(run);
    const began = Date.parse(summary.startedAt);
    const ended = summary.endedAt === null ? Date.now() : Date.parse(summary.endedAt);
    return {
      fields: {
        id: run.id,
        name: run.name,
        status: summary.status,
        verdict: summary.verdict?.state ?? null,
        note: summary.note ?? null,
        file: run.file,
        stage: run.stage,
        backend: run.backend,
        parent: summary.parent?.run ?? null,
        seed: run.seed,
        step: run.step,
        steps: run.steps,
        age: (Date.now() - began) / 1000,
        duration: (ended - began) / 1000,
        pinned: summary.pinned ?? false,
        archived: summary.archived ?? false,
      },
      tags: summary.tags ?? [],
      config: () => parse(run.config),
      metric: (name) => this.valuesOf(run, name),
    };
  }

  /** Held-out results are of evaluations, everything else of steps. */
  private valuesOf(run: RunState, name: string): ArrayLike<number> {
    return this.metrics.whole(run.id, [name], -1)[0]?.values ?? [];
  }

  /** At most so many values, each the mean of its part of the run. */
  private picture(run: RunState, most: number): readonly number[] {
    const at = [run.attempt, run.step, most].join(" ");
    const known = this.pictures.get(run.id);
    if (known?.at === at) return known.points;
    const values = Array.from(this.valuesOf(run, drawn)).filter(Number.isFinite);
    const parts = Math.min(most, values.length);
    const points = Array.from({ length: parts }, (_, part) => {
      const [from, to] = [part, part + 1].map((edge) => Math.floor((edge * values.length) / parts));
      return mean(values.slice(from, to));
    });
    this.pictures.set(run.id, { at, points });
    return points;
  }
}

type Key = string | number | undefined;

/** What a run does not have comes last, whichever way. */
function order(one: Key, other: Key, descending: boolean): number {
  if (one === undefined || other === undefined)
    return Number(one === undefined) - Number(other === undefined);
  const way = descending ? -1 : 1;
  if (typeof one === "number" && typeof other === "number") return way * (one - other);
  return way * String(one).localeCompare(String(other));
}

const parse = (text: string): JsonObject => JSON.parse(text);
