/** Kills workers and daemons at random and inside checkpoints, resumes, and compares every record with an unkilled run. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import type { MessageConnection } from "vscode-jsonrpc/node";
import { connectOrStart } from "../shared/daemon/connect.ts";
import { isAlive, isRunning } from "../shared/daemon/process.ts";
import { ask } from "../shared/daemon/request.ts";
import { readWorker } from "../shared/run/lease.ts";
import {
  rolloutsQuery,
  runsResume,
  runsShow,
  runsStart,
  type RunDetail,
} from "../shared/protocol/protocol.ts";
import { compare, effective, writing, type Comparison } from "./kills/compare.ts";
import { configs, type KillConfig } from "./kills/configs.ts";
import { measured, option } from "./report.ts";

/** `--kills=200`; a round is one run with up to `--round=8` of them; nothing new begins after `--minutes=60`. */
const wanted = option("kills", 200);
const perRound = option("round", 8);
/** `--config=NAME`: one of the configs only. */
const only = process.argv.find((word) => word.startsWith("--config="))?.slice(9);
const played = configs.filter(({ name }) => only === undefined || name === only);
const until = Date.now() + option("minutes", 60) * 60_000;
/** `--progress=FILE`: a line a round. With the file of an earlier start, only what is missing is done. */
const progressFile = process.argv.find((word) => word.startsWith("--progress="))?.slice(11);

const kinds = ["worker", "worker", "daemon", "both", "checkpoint"] as const;
type Kind = (typeof kinds)[number];
interface Round extends Comparison {
  readonly config: string;
  readonly kills: Readonly<Record<string, number>>;
  readonly attempts: number;
  /** Rollouts in the tables and in the log. */
  readonly stored: number;
  readonly logged: number;
}

// Below the working folder, not the system's temporary one: a machine may clear that in the middle.
mkdirSync("out", { recursive: true });
const base = mkdtempSync(resolve("out", "kills-"));
mkdirSync(join(base, "run"), { mode: 0o700 });
process.env["XDG_RUNTIME_DIR"] = join(base, "run");

class Project {
  readonly folder: string;
  readonly file: string;
  private daemon = 0;
  constructor(
    name: string,
    readonly config: KillConfig,
  ) {
    this.folder = join(base, name);
    this.file = join(this.folder, "c.gradus.yaml");
    mkdirSync(join(this.folder, ".gradus"), { recursive: true });
    writeFileSync(this.file, `name: ${config.name}\n${config.text}`);
    for (const [file, text] of Object.entries(config.files ?? {}))
      writeFileSync(join(this.folder, file), text);
  }
  async connect(): Promise<MessageConnection> {
    const link = await connectOrStart({
      store: join(this.folder, ".gradus"),
      role: "command",
      version: "0.1.0",
      node: process.execPath,
      cli: resolve("dist", "cli.mjs"),
      environment: { GRADUS_IDLE_MS: "600000" },
    });
    this.daemon = link.hello.pid;
    return link.connection();
  }
  run(id: string): string {
    return join(this.folder, ".gradus", "runs", id);
  }
  kill(what: Kind, id: string): void {
    if (what !== "daemon") end(readWorker(this.run(id))?.pid ?? 0);
    if (what === "daemon" || what === "both") end(this.daemon);
  }
  /** The daemon, and the processes of its runs. */
  end(): void {
    const runs = join(this.folder, ".gradus", "runs");
    for (const id of existsSync(runs) ? readdirSync(runs) : []) this.kill("worker", id);
    end(this.daemon);
    projects.delete(this);
  }
}
/** Only pids that were read of this project's own files reach this. */
function end(pid: number): void {
  if (pid > 0 && isRunning(pid)) process.kill(pid, "SIGKILL");
}

const over = (detail: RunDetail): boolean =>
  ["finished", "failed", "interrupted", "stopped"].includes(detail.status);

async function settled(project: Project, id: string): Promise<RunDetail> {
  const connection = await project.connect();
  for (;;) {
    const detail = await ask(connection, runsShow, { run: id });
    if (over(detail)) return detail;
    await wait(50);
  }
}

/** Waits for the moment: at random, or until a checkpoint is half written. False: the run ended before. */
async function moment(project: Project, id: string, kind: Kind, seconds: number): Promise<boolean> {
  const alive = (): boolean => {
    const worker = readWorker(project.run(id));
    return worker !== null && isAlive(worker);
  };
  const deadline = Date.now() + (kind === "checkpoint" ? 60_000 : seconds * 1_000);
  while (Date.now() < deadline) {
    if (!alive()) return false;
    if (kind !== "checkpoint") await wait(20);
    else if (writing(project.run(id))) return true;
    else await turn();
  }
  return kind !== "checkpoint" && alive();
}

/** One run to its end. */
async function play(
  name: string,
  config: KillConfig,
  kills: number,
  random: () => number,
  /** A kill comes within this time of the run's beginning, or of its last resume. */
  within = 0,
): Promise<{
  project: Project;
  id: string;
  killed: Record<string, number>;
  detail: RunDetail;
}> {
  const project = new Project(name, config);
  projects.add(project);
  const { run: id } = await ask(await project.connect(), runsStart, { file: project.file });
  const killed: Record<string, number> = {};
  let detail: RunDetail | undefined;
  for (let left = kills; left > 0;) {
    const kind = kinds[Math.floor(random() * kinds.length)]!;
    const met = await moment(project, id, kind, 0.3 + within * random());
    if (met) {
      project.kill(kind, id);
      killed[kind] = (killed[kind] ?? 0) + 1;
      left -= 1;
      // A worker whose daemon alone was killed goes on.
      if (kind === "daemon") continue;
    }
    detail = await settled(project, id);
    if (detail.status === "finished") break;
    if (detail.status === "failed") throw new Error(`${name}: ${detail.message ?? ""}`);
    await ask(await project.connect(), runsResume, { run: id });
  }
  detail = await settled(project, id);
  if (detail.status !== "finished") throw new Error(`${name} is ${detail.status}: ${detail.message ?? ""}`);
  return { project, id, killed, detail };
}

/** mulberry32 */
function stream(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const earlier = (): Round[] =>
  progressFile === undefined || !existsSync(progressFile)
    ? []
    : readFileSync(progressFile, "utf8")
        .trimEnd()
        .split("\n")
        .map((line): Round => JSON.parse(line));
const killsOf = (rounds: readonly Round[]): number =>
  rounds.flatMap(({ kills }) => Object.values(kills)).reduce((sum, one) => sum + one, 0);

const projects = new Set<Project>();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    for (const project of projects) project.end();
    process.exit(1);
  });
const kept: string[] = [];
const rounds = earlier();
const references = new Map<string, { readonly folder: string; readonly seconds: number }>();
try {
  while (killsOf(rounds) < wanted && Date.now() < until) {
    const number = rounds.length;
    const config = played[number % played.length]!;
    let reference = references.get(config.name);
    if (reference === undefined) {
      const began = Date.now();
      const { project, id } = await play(`${config.name}-whole`, config, 0, Math.random);
      project.end();
      reference = { folder: project.run(id), seconds: (Date.now() - began) / 1_000 };
      references.set(config.name, reference);
    }
    const count = Math.min(perRound, wanted - killsOf(rounds));
    const { project, id, killed, detail } = await play(
      `${config.name}-${number}`,
      config,
      count,
      stream(number + 1),
      // A third of the whole run: each resume loses some of it, and a round is to hold several kills.
      reference.seconds / 3,
    );
    const { total } = await ask(await project.connect(), rolloutsQuery, { run: id, limit: 1 });
    project.end();
    const logged = effective(project.run(id)).filter(({ kind }) => kind === "rollout").length;
    const round: Round = {
      config: config.name,
      kills: killed,
      attempts: detail.attempts.length,
      ...compare(reference.folder, project.run(id)),
      stored: total,
      logged,
    };
    rounds.push(round);
    if (progressFile !== undefined) appendFileSync(progressFile, `${JSON.stringify(round)}\n`);
    console.log(JSON.stringify(round));
    if (round.lost + round.doubled + round.state.length === 0)
      rmSync(project.folder, { recursive: true, force: true });
    else kept.push(project.folder, dirname(dirname(dirname(reference.folder))));
  }
} finally {
  for (const project of projects) project.end();
  if (kept.length === 0) rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  else console.log(`What differs is kept:\n  ${kept.join("\n  ")}`);
}

const sum = (of: (round: Round) => number): number => rounds.reduce((all, round) => all + of(round), 0);
const setting = `${rounds.length} runs of ${new Set(rounds.map(({ config }) => config)).size} configs`;
measured({ what: "kills", value: killsOf(rounds), unit: "kills", setting });
for (const kind of new Set(kinds))
  measured({ what: `of them: ${kind}`, value: sum(({ kills }) => kills[kind] ?? 0), unit: "kills" });
measured({ what: "rows compared", value: sum(({ rows }) => rows), unit: "rows" });
measured({ what: "rows lost", value: sum(({ lost }) => lost), unit: "rows", goal: 1 });
measured({ what: "rows twice", value: sum(({ doubled }) => doubled), unit: "rows", goal: 1 });
measured({
  what: "files of state that differ",
  value: sum(({ state }) => state.length),
  unit: "files",
  goal: 1,
});
measured({
  what: "rollouts in the tables and not in the log, or the other way",
  value: sum(({ stored, logged }) => Math.abs(stored - logged)),
  unit: "rollouts",
  goal: 1,
});
