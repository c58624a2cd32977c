/** The shell of this machine. */
import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { UserError } from "../../shared/lib/errors.ts";
import { runFramed, type Outcome } from "./framed.ts";
import type { Shell, ShellAnswer, ShellAsk } from "./shell.ts";

/** As messages have it. */
export const hereName = "this machine";

export const here = (): Shell => ({ name: hereName, run, close: () => undefined });

async function run(script: string, ask?: ShellAsk): Promise<ShellAnswer> {
  return answered(await runFramed(start, script, ask).catch(withoutShell));
}

const start = (line: string) =>
  spawn("sh", ["-c", line], {
    cwd: homedir(),
    detached: process.platform !== "win32",
    windowsHide: true,
    stdio: "pipe",
  });

function withoutShell(error: unknown): never {
  if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  throw new UserError("There is no shell `sh` on this machine.", {
    code: "site-no-shell",
    cause: error,
    action: "Name a host of ssh instead.",
  });
}

function answered(outcome: Outcome): ShellAnswer {
  if (outcome.state === "ended") return outcome;
  throw new UserError(
    outcome.state === "late"
      ? `A script did not end within ${outcome.seconds} s on this machine.`
      : "A script was ended on this machine.",
    { code: "site-unreachable", action: "Try again when the machine is less busy." },
  );
}
