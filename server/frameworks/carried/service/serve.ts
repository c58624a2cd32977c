/** The service's process, from its command line to its end. */
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { AnswerScorer, type TermScorer } from "../../../analysis/rewardChecks/answers.ts";
import type { RunConfig } from "../../../core/config/runConfig.ts";
import { loadConfig } from "../../../rules/load.ts";
import { takeLock } from "../../../../shared/daemon/lock.ts";
import { errorPlace, messageOf, UserError } from "../../../../shared/lib/errors.ts";
import { JournaledCurriculum } from "./journaled.ts";
import { configFile, serviceFolder } from "./places.ts";
import { serveCurriculum } from "./server.ts";
import { StateFolder } from "./stateFolder.ts";
import { isScored } from "./travels.ts";
import { putInPlace } from "../../../../shared/lib/putInPlace.mjs";

const usage =
  "usage: node service.mjs PROJECT [--state out/curriculum] [--port 0] [--ready FILE] [--keep 200] [--parent PID]";

/** A term that the trainer scores itself. */
const unscored: TermScorer = {
  prepare: () => Promise.resolve(),
  score: () => Promise.resolve([]),
  close: () => Promise.resolve(),
};

interface Options {
  readonly project: string;
  /** Where the state lies. */
  readonly state: string;
  readonly ready: string;
  readonly port: number;
  readonly keep: number;
  readonly parent: number | undefined;
}

const log = (message: string): void => void process.stderr.write(`${message}\n`);

/** @returns the exit code; 2: wrong usage */
export async function serve(words: readonly string[]): Promise<number> {
  let options: Options;
  try {
    options = optionsOf(words);
  } catch (error) {
    log(`${messageOf(error)}\n${usage}`);
    return 2;
  }
  try {
    await serveUntilEnded(options);
    return 0;
  } catch (error) {
    const detail = error instanceof UserError ? error.detail : {};
    const place = error instanceof UserError ? errorPlace(error.detail) : "";
    log(`${place}${messageOf(error)}${detail.action === undefined ? "" : ` ${detail.action}`}`);
    return 1;
  }
}

function optionsOf(words: readonly string[]): Options {
  const text = { type: "string" } as const;
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: { state: text, port: text, ready: text, keep: text, parent: text },
  });
  const [project, ...more] = positionals;
  if (project === undefined || more.length > 0) throw new Error("name the project's folder");
  const state = resolve(values.state ?? join(project, "out", "curriculum"));
  return {
    project: resolve(project),
    state,
    ready: resolve(values.ready ?? join(state, "service.json")),
    port: whole("port", values.port ?? "0", 0),
    keep: whole("keep", values.keep ?? "200", 1),
    parent: values.parent === undefined ? undefined : whole("parent", values.parent, 1),
  };
}

function whole(name: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least) return value;
  throw new Error(`--${name} must be a whole number of at least ${least}, not ${text}`);
}

async function serveUntilEnded({ project, state, ready, port, keep, parent }: Options): Promise<void> {
  // What user rewards run in is this very file.
  process.env["GRADUS_REWARD_HOST"] = fileURLToPath(import.meta.url);
  const config = configOf(project);
  mkdirSync(state, { recursive: true });
  const lock = await locked(join(state, "lock"));
  const folder = new StateFolder(state, keep);
  const open: { close(): Promise<void> }[] = [];
  try {
    const curriculum = await JournaledCurriculum.open(config, folder);
    const token = randomBytes(24).toString("hex");
    const rewards = async (): Promise<AnswerScorer> => {
      const scorer = new AnswerScorer(config, { instead: (term) => (isScored(term) ? undefined : unscored) });
      open.push(scorer);
      await scorer.prepare();
      return scorer;
    };
    const all = config.stages.flatMap(({ body }) => body.reward.terms);
    const namesOf = (some: typeof all): string[] => [...new Set(some.map(({ name }) => name))];
    const terms = { all: namesOf(all), scored: namesOf(all.filter(isScored)) };
    const server = await serveCurriculum({ port, token, curriculum, terms, rewards, log });
    open.push(server);
    const about = { url: `http://127.0.0.1:${server.port}`, token, pid: process.pid };
    writeReady(ready, `${JSON.stringify(about)}\n`);
    await ended(parent);
  } finally {
    rmSync(ready, { force: true });
    await Promise.allSettled(open.map((one) => one.close()));
    folder.close();
    lock.release();
  }
}

function configOf(project: string): RunConfig {
  const file = join(project, serviceFolder, configFile);
  const { config, diagnostics } = loadConfig(file);
  if (config !== undefined) return config;
  const first = diagnostics.find(({ severity }) => severity === "error");
  throw new UserError(first?.message ?? "the config cannot be read", {
    file,
    code: "service-config",
    action: "Export the project again.",
  });
}

/** Milliseconds that the process of the attempt before has to end. */
const patience = 5000;

async function locked(path: string): Promise<{ release(): void }> {
  const until = performance.now() + patience;
  for (;;) {
    const taken = takeLock(path);
    if (taken.state === "taken") return taken.lock;
    if (performance.now() > until)
      throw new UserError(`another service (process ${taken.by.pid}) holds this state`, {
        file: path,
        code: "service-held",
        action: "End that training first, or name another folder with --state.",
      });
    await new Promise((done) => setTimeout(done, 100));
  }
}

/** Temporary name and rename: whoever waits for it reads all of it. */
function writeReady(path: string, text: string): void {
  const draft = `${path}.${randomBytes(4).toString("hex")}`;
  writeFileSync(draft, text, { mode: 0o600 });
  putInPlace(draft, path);
}

/** Until a signal, or until the parent is gone. */
function ended(parent: number | undefined): Promise<void> {
  return new Promise((done) => {
    const timer = parent === undefined ? undefined : setInterval(() => isGone(parent) && end(), 250);
    const end = (): void => {
      clearInterval(timer);
      done();
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, end);
  });
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}
