/** What commands that need the store share: finding it, the daemon, and the run a person means. */
import { accessSync, constants, existsSync } from "node:fs";
import { resolve } from "node:path";
import { connectOrStart } from "../../../shared/daemon/connect.ts";
import { findStore, storeName } from "../../../shared/daemon/findStore.ts";
import type { DaemonLink } from "../../../shared/daemon/handshake.ts";
import { lookForDaemon, type DaemonState } from "../../../shared/daemon/state.ts";
import { ask, type Requester } from "../../../shared/daemon/request.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { runsList, type RunSummary } from "../../../shared/protocol/protocol.ts";
import { recordedNode } from "../../lib/natives.ts";
import { shortId } from "../text/runTable.ts";

declare const GRADUS_VERSION: string;

/** The bundle that is running: the daemon and the workers are the same file. */
export function programPath(): string {
  const path = process.argv[1];
  if (path === undefined)
    throw new UserError("The command line cannot find its own file.", {
      action: "Start it as `node dist/cli.mjs` or `bin/gradus`.",
    });
  return resolve(path);
}

/** `--store`, else the store of this folder or file. */
export function storeOf(named: string | undefined, path: string = process.cwd()): string {
  if (named === undefined) return findStore(path);
  const folder = resolve(named);
  return folder.endsWith(storeName) ? folder : findStore(folder);
}

/** The daemon of a store, started if need be. */
export function openDaemon(store: string): Promise<DaemonLink> {
  return connectOrStart({
    store,
    role: "command",
    version: GRADUS_VERSION,
    node: recordedNode()?.path ?? process.execPath,
    cli: programPath(),
  });
}

/** The state of a store's daemon; starts none. */
export async function daemonState(store: string): Promise<DaemonState> {
  return existsSync(store)
    ? lookForDaemon({ store, role: "command", version: GRADUS_VERSION })
    : { state: "none" };
}

/** Runs `act` over a connection to the store's daemon and closes it. If the store cannot be written, this process answers. */
export async function withDaemon<Result>(
  named: string | undefined,
  act: (connection: Requester) => Promise<Result>,
): Promise<Result> {
  const store = storeOf(named);
  if (!existsSync(store))
    throw new UserError(`There is no store at ${store} yet.`, {
      file: store,
      code: "no-store",
      action:
        "Start a run (gradus run FILE), change to a folder with a store, or name the store with --store.",
    });
  if (isReadOnly(store)) return look(store, act);
  const link = await openDaemon(store);
  const connection = link.connection();
  try {
    return await act(connection);
  } finally {
    connection.dispose();
    link.close();
  }
}

function isReadOnly(store: string): boolean {
  try {
    accessSync(store, constants.W_OK);
    return false;
  } catch {
    return true; // another medium, another owner: whatever the reason
  }
}

/** Loaded only here: no other way leads from a command to SQLite. */
async function look<Result>(store: string, act: (connection: Requester) => Promise<Result>): Promise<Result> {
  const { readOnly } = await import("./readOnly.ts");
  const reader = readOnly(store);
  try {
    return await act(reader);
  } finally {
    reader.close();
  }
}

/** The run a person means: its id, a beginning or the four digits at its end that only one run has, `last`, or the name of its latest run. */
export async function findRun(connection: Requester, words: string): Promise<RunSummary> {
  const { runs } = await ask(connection, runsList, { limit: 100_000 });
  const exact =
    runs.find(({ id }) => id === words) ??
    (words === "last" ? runs[0] : undefined) ??
    runs.find(({ name }) => name === words);
  if (exact !== undefined) return exact;
  const beginning = runs.filter(({ id }) => id.startsWith(words) || shortId(id) === words);
  const [only] = beginning;
  if (only !== undefined && beginning.length === 1) return only;
  const choice = beginning
    .slice(0, 5)
    .map(({ id }) => id)
    .join(", ");
  throw new UserError(
    beginning.length === 0
      ? `There is no run ${words} in this store.`
      : `${beginning.length} runs begin with ${words}: ${choice}.`,
    {
      code: "unknownRun",
      action:
        beginning.length === 0 ? "List the runs: gradus runs list." : "Write more characters of the id.",
    },
  );
}
