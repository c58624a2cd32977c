/** The programs that tests start: the command line as it ships, and the worker of the tests of daemons. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { runHosted, type Ended } from "./commandHost.ts";

export interface Programs {
  readonly cli: string;
  readonly worker: string;
}
type Environment = Readonly<Record<"GRADUS_TEST_CLI" | "GRADUS_TEST_WORKER", string>>;

let built: Promise<Programs> | undefined;

/** Built from the sources as they are: once for all of `npm test`, else once a process. */
export const programs = (): Promise<Programs> => (built ??= namedOrBuilt());

export const builtCli = async (): Promise<string> => (await programs()).cli;

async function namedOrBuilt(): Promise<Programs> {
  const { GRADUS_TEST_CLI: cli, GRADUS_TEST_WORKER: worker } = process.env;
  if (cli !== undefined && worker !== undefined) return { cli, worker };
  mkdirSync("out", { recursive: true });
  const folder = mkdtempSync(join("out", "programs-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  // Not bundled into the test: it knows the repository by its own place.
  const { buildPrograms }: { buildPrograms: (folder: string) => Promise<Environment> } = await import(
    pathToFileURL(resolve("scripts", "test", "programs.mjs")).href
  );
  const { GRADUS_TEST_CLI, GRADUS_TEST_WORKER } = await buildPrograms(folder);
  return { cli: GRADUS_TEST_CLI, worker: GRADUS_TEST_WORKER };
}

/** Runs `gradus …` to its end; commands that nothing is typed into share processes. @param input what is typed */
export const gradus = async (words: readonly string[], cwd = process.cwd(), input?: string): Promise<Ended> =>
  input === undefined ? runHosted(await builtCli(), words, cwd) : inOwnProcess(words, cwd, input);

/** Runs `gradus …` as a person does: in a process that is started for it. */
export async function inOwnProcess(
  words: readonly string[],
  cwd = process.cwd(),
  input = "",
): Promise<Ended> {
  const cli = await builtCli();
  return await new Promise((done, failed) => {
    const child = spawn(process.execPath, [cli, ...words], {
      cwd,
      stdio: "pipe",
    });
    child.stdin.on("error", () => undefined); // It may end before it has read all.
    child.stdin.end(input);
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", failed);
    child.on("close", (code) => done({ code, stdout, stderr }));
  });
}
