/** Commands that load TensorFlow in this terminal: its notes to itself, which no setting silences all of, stay out of it. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { isChatter } from "../../daemon/worker.ts";
import { complain, exit } from "../command.ts";

/** Set for the process that does the work. */
const mark = "GRADUS_QUIETLY";

/**
 * Runs this very command once more in a child whose stderr is read line by line, and ends as it does.
 * @returns false in that child, where the work is to be done
 */
export async function inQuietChild(): Promise<boolean> {
  if (process.env[mark] !== undefined || process.env["GRADUS_VERBOSE"] !== undefined) return false;
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    env: { ...process.env, [mark]: "1" },
    stdio: ["inherit", "inherit", "pipe"],
  });
  // A Ctrl-C reaches the child from the terminal as well; then it says what there is to say.
  process.on("SIGINT", () => undefined);
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.once(signal, () => child.kill(signal));
  const lines = createInterface({ input: child.stderr });
  lines.on("line", (line) => {
    if (!isChatter(line)) complain(line);
  });
  const read = new Promise((done) => lines.once("close", done));
  const status = await new Promise<number | null>((done, failed) => {
    child.once("error", failed);
    child.once("close", done);
  });
  await read;
  process.exitCode = status ?? exit.failed;
  return true;
}
