/** Starts a run through the daemon of a store. */
import { randomUUID } from "node:crypto";
import { ask } from "../../../shared/daemon/request.ts";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { runsStart, type InputOf } from "../../../shared/protocol/protocol.ts";
import { shellPython } from "../../lib/own/interpreter.ts";
import { complain } from "../command.ts";
import { openDaemon } from "./store.ts";

interface StartOptions {
  readonly set: readonly string[];
  readonly steps?: number;
  readonly seed?: number;
}

/**
 * Asked again after a lost answer, it starts one run.
 * @param key another one starts another run
 * @returns its id
 */
export async function startRun(
  file: string,
  store: string,
  { set, steps, seed }: StartOptions,
  site?: InputOf<typeof runsStart>["site"],
  key: string = randomUUID(),
): Promise<string> {
  const link = await openDaemon(store).catch((error: unknown) => {
    throw new UserError(`No daemon could be reached or started for ${store}: ${messageOf(error)}`, {
      code: "no-daemon",
      cause: error,
      action: `${error instanceof UserError && error.detail.action !== undefined ? `${error.detail.action} ` : ""}\`gradus run FILE --dry-run\` works without one.`,
    });
  });
  const connection = link.connection();
  try {
    if (link.mode === "limited")
      complain("An older daemon with live runs serves this store, so it also starts this run.");
    const python = shellPython(process.env);
    const { run } = await ask(connection, runsStart, {
      file,
      set: [...set],
      key,
      ...(steps === undefined ? {} : { steps }),
      ...(seed === undefined ? {} : { seed }),
      ...(python === undefined ? {} : { python }),
      ...(site === undefined ? {} : { site }),
    });
    return run;
  } finally {
    connection.dispose();
    link.close();
  }
}
