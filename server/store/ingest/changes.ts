/** Writes the feed of changes. Inside a transaction only. */
import type { Change } from "../../../shared/protocol/protocol.ts";
import type { Statements } from "../drivers/statements.ts";

/** Changes kept for clients that were away. */
const keptChanges = 20_000;

export class Changes {
  constructor(private readonly statements: Statements) {}

  add(
    run: string,
    kind: Change["kind"],
    step: number,
    metrics?: Readonly<Record<string, number | null>>,
  ): void {
    const { lastInsertRowid } = this.statements.run(
      "INSERT INTO change(run, kind, step, metrics) VALUES (?, ?, ?, ?)",
      run,
      kind,
      step,
      metrics === undefined ? null : JSON.stringify(metrics),
    );
    if (Number(lastInsertRowid) % 1000 === 0)
      this.statements.run("DELETE FROM change WHERE cursor <= ?", Number(lastInsertRowid) - keptChanges);
  }
}
