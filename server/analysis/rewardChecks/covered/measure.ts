/** Measures what recorded rollouts reach of a config's own reward functions. */
import { UserError } from "../../../../shared/lib/errors.ts";
import { plural } from "../../../../shared/lib/format.ts";
import type { FileCoverage } from "../../../../shared/rollouts/coverage.ts";
import { applies } from "../../../algorithm/rewards/rewards.ts";
import type { TaskConfig } from "../../../core/config/resolved.ts";
import type { RunConfig } from "../../../core/config/runConfig.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { selectRows } from "../../../core/rows/batch.ts";
import { stageAt } from "../../explain/stageAt.ts";
import { noModels, noTokenizer } from "../../rescore/noModels.ts";
import { CoveredTerms, type CoveredOptions } from "./coveredTerms.ts";
import { CoverageTally } from "./tally.ts";

interface Failures {
  readonly rollouts: number;
  /** Of the first. */
  readonly message: string;
}

export class CoverageMeasure {
  rollouts = 0;
  private readonly terms: CoveredTerms;
  private readonly tally = new CoverageTally();
  private readonly skipped = new Map<string, string>();
  private readonly asked = new Map<string, number>();
  private readonly failed = new Map<string, Failures>();

  constructor(
    private readonly config: RunConfig,
    options: Omit<CoveredOptions, "timeout">,
  ) {
    this.terms = new CoveredTerms({ ...options, timeout: config.top.reward.timeout });
  }

  get files(): readonly FileCoverage[] {
    return this.tally.files;
  }

  /** Whether a term failed on all rollouts that it was asked. */
  get failsOnAll(): boolean {
    return [...this.failed].some(([term, { rollouts }]) => rollouts === this.asked.get(term));
  }

  /** Terms that could not be scored, and why; terms that failed, and where first. */
  get notes(): readonly string[] {
    return [
      ...[...this.skipped].map(([term, reason]) => `\`${term}\` was left out: ${reason}.`),
      ...[...this.failed].map(([term, failures]) => failureNote(term, failures)),
    ];
  }

  /**
   * Scores rollouts of one step.
   * @param batchOf the rollouts as they look to the config's task sources
   * @throws UserError where a function cannot be loaded, or none is one's own; the signal's reason when it is aborted
   */
  async add(
    step: number,
    batchOf: (tasks: readonly TaskConfig[]) => Batch,
    signal?: AbortSignal,
  ): Promise<void> {
    const { body, clock } = stageAt(this.config, step);
    const batch = batchOf(body.tasks);
    const own = body.reward.terms.filter((term) => this.terms.of(term) !== undefined);
    if (own.length === 0) throw noneOwn(this.config.file);
    for (const term of own) {
      if (this.skipped.has(term.name)) continue;
      const reward = this.terms.of(term)!;
      const rows = [...batch.records.keys()].filter((row) => applies(term, batch.records[row]!.task.source));
      try {
        const scored = rows.length === batch.rows ? batch : selectRows(batch, rows);
        const values = await reward.score(scored, {
          models: noModels,
          tokenizer: noTokenizer,
          clock,
          ...(signal && { signal }),
        });
        this.count(term.name, values);
      } catch (error) {
        if (!(error instanceof UserError) || error.detail.code?.startsWith("rescore-") !== true) throw error;
        this.skipped.set(term.name, error.message);
      }
      this.tally.add(term.name, await reward.reached());
    }
    this.rollouts += batch.rows;
  }

  private count(term: string, values: readonly TermValue[]): void {
    this.asked.set(term, (this.asked.get(term) ?? 0) + values.length);
    const errors = values.flatMap((value) => (value.kind === "error" ? [value.message] : []));
    const [first] = errors;
    if (first === undefined) return;
    const known = this.failed.get(term) ?? { rollouts: 0, message: first };
    this.failed.set(term, { ...known, rollouts: known.rollouts + errors.length });
  }

  close(): Promise<void> {
    return this.terms.close();
  }
}

/** "`brief` threw on 48 rollouts (train.py:14: TypeError: …)": what was not reached after such a line says nothing. */
function failureNote(term: string, { rollouts, message }: Failures): string {
  const on = plural(rollouts, "rollout");
  const thrown = /threw (.*) \(([^()\s]+:\d+)\)$/s.exec(message);
  return thrown === null
    ? `\`${term}\` failed on ${on}: ${message}`
    : `\`${term}\` threw on ${on} (${thrown[2]}: ${thrown[1]})`;
}

const noneOwn = (file: string): UserError =>
  new UserError("no reward term is a function of your own, so there is nothing to cover", {
    file,
    code: "coverage-none",
    action: "Name a function's file in `use` of a term.",
  });
