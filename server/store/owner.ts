/**
 * One daemon per store. Its lock and discovery file lie in a per-user runtime folder, and two sessions of one person
 * may see different ones (XDG_RUNTIME_DIR set in a desktop session and not over SSH): the store itself says who serves it.
 */
import { z } from "zod";
import { isAlive, ownIdentity } from "../../shared/daemon/process.ts";
import { UserError } from "../../shared/errors.ts";
import type { Database } from "./database.ts";

const ownerSchema = z.object({ pid: z.number(), process_start: z.string() }).nullish();

/**
 * Takes the store for this process; a dead owner's is taken over.
 * @throws UserError while another living process serves it
 */
export function claim(database: Database, path: string): void {
  database.transaction(() => {
    const owner = ownerSchema.parse(database.prepare("SELECT pid, process_start FROM owner").get());
    const own = ownIdentity();
    if (
      owner !== undefined &&
      owner !== null &&
      owner.pid !== own.pid &&
      isAlive({ pid: owner.pid, processStart: owner.process_start })
    )
      throw new UserError(
        `Another daemon (pid ${owner.pid}) serves this store, and it was started with another runtime folder.`,
        {
          file: path,
          code: "busy",
          action: `Use the same XDG_RUNTIME_DIR as the session that started it, or end it there: gradus daemon stop (or kill ${owner.pid}; runs go on).`,
        },
      );
    database
      .prepare("INSERT OR REPLACE INTO owner(only_one, pid, process_start) VALUES (1, ?, ?)")
      .run(own.pid, own.processStart);
  });
}

export function release(database: Database): void {
  database.prepare("DELETE FROM owner WHERE pid = ?").run(process.pid);
}
