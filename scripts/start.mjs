// `npm start`: sets up what is missing, then starts the shipped example and follows it.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { home } from "./setup/places.mjs";
import { askOnTerminal, say } from "./setup/process.mjs";
import { report, setUp } from "./setup.mjs";
import { shortExample } from "./shortExample.mjs";

try {
  const { engine } = await setUp({ engine: { ask: askOnTerminal } });
  const isSlow = engine.backend === "wasm";
  if (isSlow)
    say(
      `the whole example would take hours on WebAssembly: a short form of it starts, of about five minutes; it shows all and learns little`,
    );
  // The last of two `--set` holds: what the person says comes after.
  const words = [...(isSlow ? shortExample : []), ...process.argv.slice(2)];
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
