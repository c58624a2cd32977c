// `npm start`: sets up what is missing, then starts the shipped example and follows it.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { slower } from "../shared/lib/systemWords.mjs";
import { home } from "./setup/places.mjs";
import { askOnTerminal, say } from "./setup/process.mjs";
import { report, setUp } from "./setup.mjs";

/** So much of the example that it ends in minutes on WebAssembly; what is written after it holds. */
function inMinutes() {
  say(
    `on WebAssembly, ${slower}, the example would take hours: a short form of it, some five minutes, shows all of it and learns little`,
  );
  return [
    ...["stages.warm-up.steps=150", "stages.warm-up.batch=32", "stages.practice.steps=10"],
    ...["rollout.prompts=16", "evaluation.prompts=64"],
  ].flatMap((value) => ["--set", value]);
}

try {
  const { engine } = await setUp({ engine: { ask: askOnTerminal } });
  const words = [...(engine.backend === "wasm" ? inMinutes() : []), ...process.argv.slice(2)];
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
