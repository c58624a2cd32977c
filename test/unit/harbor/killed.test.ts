/** A worker that is killed leaves no machine of a Harbor episode and no program of a harness. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { build } from "esbuild";
import { UserError } from "../../../shared/lib/errors.ts";
import { Namespaces } from "../../../server/lib/harbor/namespaces.ts";
import { until } from "../../support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-killed-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const withoutNamespaces = await Namespaces.open({ megabytes: 16, memory: 64 }).then(
  async (machine) => (await machine.close(), false as const),
  (error: unknown) => (error instanceof UserError ? error.message : String(error)),
);

/** Processes whose command line has a text. */
const withText = (text: string): readonly string[] =>
  readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, "latin1").includes(text);
    } catch {
      return false; // it has ended meanwhile
    }
  });

/** Runs a program of Node that says "begun", kills it, and waits until nothing with the text is left. */
async function killed(code: string, text: string): Promise<void> {
  const outfile = join(folder, `${text}.mjs`);
  const entry = join(folder, `${text}.ts`);
  writeFileSync(entry, code);
  const banner = {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  };
  await build({ entryPoints: [entry], outfile, bundle: true, platform: "node", format: "esm", banner });
  const worker = spawn(process.execPath, [outfile], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  worker.stdout.setEncoding("utf8").on("data", (words: string) => (said += words));
  await until(() => said.includes("begun") && withText(text).length > 1, "the programs to be there");
  worker.kill("SIGKILL");
  await until(() => withText(text).length === 0, "all of them to be gone");
}

test(
  "a Harbor episode ends with its worker, a busy loop of the policy included",
  { skip: withoutNamespaces },
  () =>
    killed(
      `import { Namespaces } from ${JSON.stringify(join(process.cwd(), "server/lib/harbor/namespaces.ts"))};
const machine = await Namespaces.open({ megabytes: 16, memory: 64 });
void machine.run({ argv: ["/usr/bin/bash", "-c", "setsid bash -c 'while :; do :; done' harbor-left & while :; do :; done", "harbor-left"], folder: "/", env: {}, seconds: 600 });
console.log("begun");`,
      "harbor-left",
    ),
);

test(
  "programs of a harness end with their worker, those in a session of their own too",
  { skip: existsSync("/proc/self/environ") ? false : "there is no /proc" },
  () =>
    killed(
      `import { ProgramPerRollout } from ${JSON.stringify(join(process.cwd(), "server/run/harness/program.ts"))};
const program = new ProgramPerRollout(["/bin/sh", "-c", "setsid sh -c 'while :; do sleep 1; done' harness-left & while :; do sleep 1; done", "harness-left"], ".");
void program.run({ id: "a", work: {}, environment: {} }, 600, new AbortController().signal);
console.log("begun");`,
      "harness-left",
    ),
);
