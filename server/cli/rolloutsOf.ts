/** The rollouts that `--rollouts` names: a file's, or those of a run in the store. */
import { existsSync } from "node:fs";
import { ask } from "../../shared/daemon/request.ts";
import { rolloutsQuery } from "../../shared/protocol/protocol.ts";
import { UserError } from "../../shared/lib/errors.ts";
import { readRollouts, type RecordedRow } from "../analysis/recorded.ts";
import { findRun, withDaemon } from "./runs/store.ts";

/** A page of the store's answers. */
const page = 512;

/**
 * @param words a JSONL file, else `last`, a run's id, a beginning of it, or its name
 * @throws UserError where there is neither such a file nor such a run
 */
export async function rolloutsOf(words: string): Promise<RecordedRow[]> {
  if (existsSync(words) || /[./\\]/.test(words)) return readRollouts(words);
  const rows = await withDaemon(undefined, async (connection) => {
    const { id } = await findRun(connection, words);
    const found: RecordedRow[] = [];
    let after: string | undefined;
    do {
      const answer = await ask(connection, rolloutsQuery, {
        run: id,
        tokens: true,
        limit: page,
        ...(after === undefined ? {} : { after }),
      });
      for (const row of answer.rollouts) found.push({ row, place: { file: id, line: found.length } });
      after = answer.next ?? undefined;
    } while (after !== undefined);
    return found;
  });
  if (rows.length === 0)
    throw new UserError(`The run ${words} has recorded no rollout yet.`, {
      code: "rollouts-empty",
      action: "Wait for its first step, or name another run.",
    });
  return rows;
}
