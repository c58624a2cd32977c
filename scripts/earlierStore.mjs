// Writes test/fixtures/earlierStore, the store of an earlier version that later ones must list, show, export and resume:
// `node scripts/earlierStore.mjs FOLDER`, where FOLDER is an empty folder of no particular machine, such as /project.
// Each config runs once to its end and once to a stop or a kill, so the store itself holds what a resumed run must come to.
import { spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { tests } from "../esbuild.mjs";

const fixture = resolve("test/fixtures/earlierStore");
const project = resolve(process.argv[2] ?? "");
if (process.argv[2] === undefined || (existsSync(project) && readdirSync(project).length > 0)) {
  console.error("Name an empty folder: node scripts/earlierStore.mjs /project");
  process.exit(2);
}
await build({ ...tests(["test/support/earlierConfigs.ts"]), outdir: "out/test", outbase: "test" });
const { earlierConfigs, slow } = await import(resolve("out/test/support/earlierConfigs.mjs"));

const runtime = mkdtempSync(join(tmpdir(), "gradus-earlier-"));
const options = { cwd: project, env: { ...process.env, XDG_RUNTIME_DIR: runtime, GRADUS_IDLE_MS: "600000" } };
const gradus = (...words) => [process.execPath, [resolve("bin/gradus"), ...words]];
function call(...words) {
  const { status, stderr } = spawnSync(...gradus(...words), { ...options, encoding: "utf8" });
  if (status !== 0) throw new Error(`gradus ${words.join(" ")}: ${stderr}`);
}

const finished = [];
const stopDaemon = () => call("daemon", "stop");
/** Follows a run; after `step` it is stopped, or its worker is killed. */
async function play(name, step, how) {
  const child = spawn(...gradus("run", `${name}.gradus.yaml`, "--json", "--set", slow.set), {
    ...options,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let run;
  let ended = false;
  for await (const line of createInterface({ input: child.stdout })) {
    const printed = JSON.parse(line);
    run ??= printed.run;
    if (how === undefined || printed.type !== "step" || printed.step < step || ended) continue;
    ended = true;
    if (how === "stop") call("runs", "stop", run);
    else
      process.kill(
        JSON.parse(readFileSync(join(project, ".gradus", "runs", run, "worker.json"), "utf8")).pid,
        "SIGKILL",
      );
  }
  if (how === undefined) finished.push(run);
  else if (!ended) throw new Error(`${name} ended before step ${step}`);
}

try {
  mkdirSync(join(project, ".gradus"), { recursive: true });
  writeFileSync(join(project, slow.file), slow.text);
  for (const { name, text, files = {}, at, how } of earlierConfigs) {
    writeFileSync(join(project, `${name}.gradus.yaml`), text);
    for (const [file, content] of Object.entries(files)) writeFileSync(join(project, file), content);
    await play(name);
    await play(name, at, how);
  }
  call("runs", "list");
  stopDaemon();
  // What names this machine, and what only takes room: the weights of runs that have ended well.
  for (const file of ["daemon.log", ".gitignore"]) rmSync(join(project, ".gradus", file));
  const runs = join(project, ".gradus", "runs");
  for (const run of readdirSync(runs)) {
    for (const file of ["worker.json", "lease", "worker.log"]) rmSync(join(runs, run, file), { force: true });
    if (finished.includes(run) && !run.startsWith("bandit"))
      rmSync(join(runs, run, "checkpoints"), { recursive: true });
  }
  rmSync(fixture, { recursive: true, force: true });
  cpSync(project, fixture, { recursive: true });
  // Folders that begin with a dot are left out of the repository.
  cpSync(join(fixture, ".gradus"), join(fixture, "store"), { recursive: true });
  rmSync(join(fixture, ".gradus"), { recursive: true });
} finally {
  stopDaemon();
  rmSync(runtime, { recursive: true, force: true });
}
