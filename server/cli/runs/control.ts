/** What a live run is asked to do, and what is done with one that has ended. */
import type { Command as Program } from "commander";
import { ask, type Requester } from "../../../shared/daemon/request.ts";
import { runsControl, runsDelete, runsResume, type RunSummary } from "../../../shared/protocol/protocol.ts";
import { reachingHere } from "../../sites/ssh.ts";
import { print, printJson } from "../command.ts";
import { ofRun, type Options } from "./ofRun.ts";

/** A command that asks a live run for what it is called. */
const asking =
  (action: "pause" | "continue" | "checkpoint", summary: string) =>
  (program: Program): void =>
    void ofRun(program, action, summary, (connection, run, { json }) =>
      control(connection, run, action, json),
    );

/** By the name of the command. */
export const controls = {
  stop: (program: Program) =>
    void ofRun<{ now?: boolean }>(
      program,
      "stop",
      "stop a run and write a last checkpoint; a resumed run repeats a step whose rollouts are not all recorded",
      (connection, run, { now, json }) => control(connection, run, "stop", json, now),
    ).option("--now", "stop at once and drop the current step"),
  pause: asking(
    "pause",
    "pause a run between two tokens or before the next step; it keeps its state in memory",
  ),
  continue: asking("continue", "continue a paused run"),
  checkpoint: asking("checkpoint", "write a checkpoint after the current step"),
  resume: (program: Program) =>
    void ofRun(program, "resume", "resume a run from its last checkpoint, as a new attempt", resume),
  delete: (program: Program) =>
    void ofRun(program, "delete", "delete a run with its log and checkpoints", remove),
} as const;

async function control(
  connection: Requester,
  { id }: RunSummary,
  action: "stop" | "pause" | "continue" | "checkpoint",
  json: boolean | undefined,
  now = false,
): Promise<void> {
  const answer = await ask(connection, runsControl, { run: id, action, now });
  if (json === true) return printJson({ run: id, action, id: answer.id });
  print(
    action === "stop"
      ? `${id} is stopping${now ? " at once" : " after the current step"}.`
      : `${id} was asked to ${action}.`,
  );
}

async function resume(connection: Requester, { id }: RunSummary, { json }: Options): Promise<void> {
  const answer = await ask(connection, runsResume, { run: id, env: reachingHere() });
  if (json === true) return printJson(answer);
  print(`${id} continues as attempt ${answer.attempt}. Follow it: gradus runs follow ${id}`);
}

async function remove(connection: Requester, { id }: RunSummary, { json }: Options): Promise<void> {
  const answer = await ask(connection, runsDelete, { run: id });
  if (json === true) return printJson({ run: id, ...answer });
  print(`${id} is deleted.`);
}
