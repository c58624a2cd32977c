/** What a held-out evaluation found. */

/**
 * The types every slot shares, and nothing else.
 *
 * Data flows in one direction:
 *   config → tasks → curriculum → rollout (+ guidance) → reward → advantage → objective (+ kl, mask, replay)
 *   → policy.update → run log
 *
 * A batch is a set of columns: typed arrays with row offsets plus one small record per row. There is never an
 * object per token. Columns of a batch cover every token *after the first prompt* of a row, observations and
 * given prefixes included. Row `i` occupies `offsets[i] … offsets[i + 1]` of every token column.
 */

export interface EvaluationReport {
  readonly metrics: Readonly<Record<string, number>>;
  readonly tasks: number;
}
