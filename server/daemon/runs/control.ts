/** What a live run is asked to do: by a line in its control file, and at once by a signal. */
import { randomBytes } from "node:crypto";
import { placeText } from "../../../shared/daemon/place.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import type { ParamsOf, ResultOf, RunStatus, runsControl } from "../../../shared/protocol/protocol.ts";
import { appendControl } from "../../../shared/run/controlFile.ts";
import { readRunFile } from "../../store/files.ts";
import { holderOf, isWorkerOf } from "../../../shared/run/lease.ts";

/** `stop --now` asks, then insists, after so many milliseconds. */
const patience = 5_000;

type Asked = ParamsOf<typeof runsControl>;

/** @throws UserError where the run does not live, or cannot be asked this from here */
export function control(
  folder: string,
  status: RunStatus,
  { run, action, now, reason, path, value }: Asked,
): ResultOf<typeof runsControl> {
  const holder = holderOf(folder);
  if (holder.state === "none") {
    throw new UserError(`Run ${run} is not live (${status}), so there is nothing to ${action}.`, {
      code: "refused",
      action:
        status === "finished" ? "See its state: gradus runs show." : `Resume it: gradus runs resume ${run}.`,
    });
  }
  if (action !== "stop" && readRunFile(folder)?.imported !== undefined)
    throw new UserError(
      `Another program trains run ${run}, and Gradus watches its folder: there is nothing here to ${action}.`,
      { code: "refused", action: `Ask its own trainer; gradus runs stop ${run} ends the watching.` },
    );
  if (action === "set" && (path === undefined || value === undefined))
    throw new UserError("A setting needs a path and a value.", {
      code: "refused",
      action: "Give both `path` and `value`.",
    });
  if (action === "stop" && now && holder.state === "elsewhere")
    throw new UserError(`Run ${run} runs ${placeText(holder.place)} and cannot be ended at once from here.`, {
      code: "refused",
      action: "End it there, or stop it without --now, so that it ends after its step.",
    });
  const id = randomBytes(6).toString("hex");
  const stopping = { ...(now && { now }), ...(reason !== undefined && { reason }) };
  const said = action === "set" ? { path, value } : action === "stop" ? stopping : {};
  appendControl(folder, `${JSON.stringify({ id, action, ...said, at: new Date().toISOString() })}\n`);
  return { id };
}

interface Ending {
  readonly platform: NodeJS.Platform;
  /** Milliseconds from asking to insisting. */
  readonly killAfter: number;
}

/**
 * The step in flight is lost, nothing that was committed. On Windows a signal is no question but the end, and the run's would not be
 * recorded: there the worker obeys its control file, between two tokens or after its step.
 */
export function endAtOnce(
  folder: string,
  { platform, killAfter }: Ending = { platform: process.platform, killAfter: patience },
): void {
  // A worker that is killed leaves the job on its site alone: it has to end that first.
  if (readRunFile(folder)?.site?.engine !== undefined) return;
  const holder = holderOf(folder);
  if (holder.state !== "here") return;
  const { identity } = holder;
  // Who only looks asks no program, but what a file says of a process is not enough to signal it.
  if (!isWorkerOf(folder, identity)) return;
  if (platform !== "win32") process.kill(identity.pid, "SIGTERM");
  setTimeout(() => {
    if (isWorkerOf(folder, identity)) process.kill(identity.pid, "SIGKILL");
  }, killAfter).unref();
}
