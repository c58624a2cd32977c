// `npm start`: sets up what is missing, then starts the shipped example and follows it.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { home } from "./setup/places.mjs";
import { askOnTerminal } from "./setup/process.mjs";
import { report, setUp } from "./setup.mjs";

try {
  await setUp({ engine: { ask: askOnTerminal } });
  const words = process.argv.slice(2);
  const child = spawn(
    process.execPath,
    [join(home, "bin", "gradus"), "run", join("examples", "countdown", "countdown.gradus.yaml"), ...words],
    { cwd: home, stdio: "inherit" },
  );
  // The terminal sends Ctrl-C to the child as well, which detaches from the run; this process waits for it to say so.
  process.on("SIGINT", () => undefined);
  child.once("close", (status, signal) => void (process.exitCode = signal === null ? status : 1));
} catch (error) {
  process.exitCode = report(error);
}
