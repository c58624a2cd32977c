// Runs command after command of the bundled command line in one process: to start Node and to load the bundle takes most
// of what a short command costs. A command has ended when nothing is left to wait for, as a process of its own would.
// Arguments: the command line's file, and a mark that is written to both streams after each command.
import { pathToFileURL } from "node:url";

const [cli, mark] = process.argv.slice(2);
const home = process.cwd();
let number = 0;
let runs = false;

process.on("message", ({ words, cwd, runtime }) => {
  runs = true;
  process.channel.unref();
  process.chdir(cwd);
  if (runtime === undefined) delete process.env.XDG_RUNTIME_DIR;
  else process.env.XDG_RUNTIME_DIR = runtime;
  process.argv = [process.execPath, cli, ...words];
  // The entry runs anew; what it imports is there already.
  void import(`${pathToFileURL(cli).href}?${(number += 1)}`);
});
process.on("beforeExit", (code) => {
  if (!runs) return;
  runs = false;
  process.exitCode = undefined;
  // Windows removes no folder in which a process works.
  process.chdir(home);
  for (const stream of [process.stdout, process.stderr]) {
    // Each command listens for a reader that has gone.
    stream.removeAllListeners("error");
    stream.write(`${mark}${code}\n`);
  }
  process.channel.ref();
});
process.on("disconnect", () => process.exit());
