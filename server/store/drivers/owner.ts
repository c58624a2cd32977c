/**
 * One daemon per store. Its lock and discovery file lie in a per-user runtime folder, and two sessions of one person
 * may see different ones (XDG_RUNTIME_DIR set in a desktop session and not over SSH, a container): the store itself says
 * who serves it, in a lock of its own. The table `owner` informs daemons of versions that had no such lock.
 */
import { dirname } from "node:path";
import { z } from "zod";
import { isHolding, takeLock, type Lock, type LockHolder } from "../../../shared/daemon/lock.ts";
import { identityOfStore, isSameStore, serveWords, storeLockPath } from "../../../shared/daemon/owner.ts";
import { placeText } from "../../../shared/daemon/place.ts";
import {
  isAlive,
  isElsewhere,
  ownIdentity,
  worksOn,
  type ProcessIdentity,
} from "../../../shared/daemon/process.ts";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import type { Database } from "./database.ts";
import { realPath } from "../../../shared/lib/realPath.ts";

const ownerSchema = z.object({ pid: z.number(), process_start: z.string() }).nullish();

/** How often those who cannot see this process are shown that it lives. */
const touchEvery = 5_000;

let held: { readonly lock: Lock; readonly timer: NodeJS.Timeout } | undefined;

/**
 * Takes the store for this process; a dead owner's is taken over, and a copied store has none.
 * @throws UserError while another living process serves it
 */
export function claim(database: Database, path: string): void {
  const store = realPath(dirname(path));
  claimLock(store, path);
  database.transaction(() => {
    const row = ownerSchema.parse(database.prepare("SELECT pid, process_start FROM owner").get());
    const owner =
      row === undefined || row === null ? null : { pid: row.pid, processStart: row.process_start };
    const own = ownIdentity();
    if (owner !== null && owner.pid !== own.pid && isAlive(owner) && worksOn(owner.pid, serveWords, store))
      throw refusal(owner, path);
    database
      .prepare("INSERT OR REPLACE INTO owner(only_one, pid, process_start) VALUES (1, ?, ?)")
      .run(own.pid, own.processStart);
  });
}

function claimLock(store: string, path: string): void {
  letGo();
  const result = takeLock(storeLockPath(store), {
    store: identityOfStore(store),
    holds: (holder, lock) => owns(holder, store, lock),
  });
  if (result.state === "held") throw refusal(result.by, path);
  const { lock } = result;
  const timer = setInterval(() => {
    try {
      lock.touch();
    } catch (error) {
      process.stderr.write(`${lock.path} cannot be touched: ${messageOf(error)}\n`);
    }
  }, touchEvery).unref();
  held = { lock, timer };
}

const owns = (holder: LockHolder, store: string, lock: string): boolean =>
  isElsewhere(holder)
    ? isHolding(holder, lock)
    : holder.pid !== process.pid && isAlive(holder) && isSameStore(holder.store, store);

function refusal(owner: ProcessIdentity, file: string): UserError {
  if (owner.place !== undefined && isElsewhere(owner))
    return new UserError(`Another daemon (pid ${owner.pid}) serves this store ${placeText(owner.place)}.`, {
      file,
      code: "busy",
      action:
        "Work there, or stop it there: gradus daemon stop (runs continue). If that container or machine is gone, try again in 20 s.",
    });
  return new UserError(
    `Another daemon (pid ${owner.pid}) serves this store, but it was started with another runtime folder.`,
    {
      file,
      code: "busy",
      action: `Use the same XDG_RUNTIME_DIR as the session that started it, or stop it: gradus daemon stop (runs continue).`,
    },
  );
}

function letGo(): void {
  clearInterval(held?.timer);
  held?.lock.release();
  held = undefined;
}

export function release(database: Database): void {
  database.prepare("DELETE FROM owner WHERE pid = ?").run(process.pid);
  letGo();
}
