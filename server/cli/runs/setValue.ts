/** `gradus runs set`: values of a run that lives. */
import { setTimeout as wait } from "node:timers/promises";
import type { Command as Program } from "commander";
import { ask, type Requester } from "../../../shared/daemon/request.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import type { Json } from "../../../shared/lib/json.ts";
import {
  eventsQuery,
  runsControl,
  type EventRow,
  type RunSummary,
} from "../../../shared/protocol/protocol.ts";
import { parseAssignment } from "../../config/address.ts";
import { child, toJson, type SourceNode } from "../../config/text/node.ts";
import { complain, exit, print, printJson } from "../command.ts";
import { whole } from "../options.ts";
import { common, type Options } from "./ofRun.ts";
import { findRun, withDaemon } from "./store.ts";

/** Milliseconds between two looks for the answer, which the run gives at the end of its step. */
const lookEvery = 250;
/** How many of the run's latest events are looked through. */
const lookBack = 200;

export function setCommand(program: Program): void {
  common(
    program
      .command("set")
      .description("change a value of a live run from its next step, e.g. update.optimizer.lr=1e-5")
      .argument("<run>", "its id, a prefix of the id, its name, or `last`")
      .argument("<path=value...>", "a key path, as for --set"),
  )
    .option(
      "--wait <seconds>",
      "how long to wait for the run's answer, which it gives at the end of its step",
      whole(0),
      120,
    )
    .action((words: string, assignments: string[], options: Options & { wait: number }) =>
      withDaemon(options.store, async (connection) =>
        setValues(connection, await findRun(connection, words), assignments, options),
      ),
    );
}

interface SetOptions {
  readonly json?: boolean;
  /** Seconds. */
  readonly wait: number;
}

interface SetRequest {
  readonly path: string;
  readonly value: Json;
}

function parse(text: string): SetRequest {
  const { path, tree } = parseAssignment(text, process.cwd());
  const value = path.reduce<SourceNode | undefined>((at, key) => child(at, key), tree);
  return { path: text.slice(0, text.indexOf("=")).trim(), value: value === undefined ? null : toJson(value) };
}

/** The event by which the run answered; undefined where it has not yet. */
async function answerTo(
  connection: Requester,
  run: string,
  id: string,
  seconds: number,
): Promise<EventRow | undefined> {
  const until = performance.now() + seconds * 1000;
  for (;;) {
    const { events } = await ask(connection, eventsQuery, { run, limit: lookBack });
    const found = events.find(({ name, data }) => /^set(-refused)?$/.test(name) && idOf(data) === id);
    if (found !== undefined || performance.now() >= until) return found;
    await wait(lookEvery);
  }
}
const idOf = (data: Json): Json | undefined =>
  typeof data === "object" && data !== null && !Array.isArray(data) && "id" in data ? data["id"] : undefined;

/** Asks for each value in order and waits for the run's answers. A refusal is a failure of the command. */
export async function setValues(
  connection: Requester,
  { id: run }: RunSummary,
  assignments: readonly string[],
  { json, wait: seconds }: SetOptions,
): Promise<void> {
  const asked = assignments.map(parse);
  if (asked.length === 0)
    throw new UserError("There is no value to set.", {
      code: "usage",
      action: "Write path=value, e.g. gradus runs set last update.optimizer.lr=1e-5.",
    });
  const sent: (SetRequest & { id: string })[] = [];
  for (const one of asked)
    sent.push({ ...one, id: (await ask(connection, runsControl, { run, action: "set", ...one })).id });
  const results = [];
  for (const { path, value, id } of sent) {
    const answer = await answerTo(connection, run, id, seconds);
    const accepted = answer === undefined ? null : answer.name === "set";
    results.push({ path, value, id, accepted, step: answer?.step ?? null, message: answer?.message ?? null });
    if (accepted !== true && accepted !== null) process.exitCode = exit.failed;
    if (json === true) continue;
    if (accepted === true) print(answer?.message ?? "");
    else
      complain(
        answer?.message ??
          `${run} was asked to set ${path} and answers at the end of its step: see its events (gradus runs follow ${run}).`,
      );
  }
  if (json === true) printJson({ run, set: results });
}
