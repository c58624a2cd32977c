/** What a person does with a package on their system, from `init` to a served policy: tests of one machine, in their order. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { writeFlatStory } from "../flatStory.ts";
import { until } from "../until.ts";
import type { Machine, Outcome } from "./machine.ts";

/** Trains for some ten seconds, with a checkpoint to resume from. */
const small = `name: small
model: { base: tiny }
tasks: [{ env: arithmetic }]
rollout: { prompts: 8, group: 4, max_tokens: 8 }
reward: { terms: { correct: { use: exact_match, weight: 1 } } }
stages: [{ name: practise, kind: rl, steps: 150 }]
evaluation: { every: 50, prompts: 8, pass_at: [1] }
checkpoint: { every: 5 }
engine: { backend: native }
seed: 1
`;

interface Listed {
  readonly id: string;
  readonly status: string;
  /** The last one; -1: none yet. */
  readonly step: number;
}
export interface Played {
  readonly machine: Machine;
  /** Nothing is in it yet. */
  readonly folder: string;
}

/** Metrics of the first steps as a table without what hangs on a clock: rows by step, columns by name. */
export function firstMetrics(csv: string, steps: number): readonly Readonly<Record<string, string>>[] {
  const [head = "", ...rows] = csv.trim().split(/\r?\n/);
  const names = head.split(",");
  return rows
    .map((row) => Object.fromEntries(row.split(",").map((cell, at) => [names[at]!, cell])))
    .slice(0, steps)
    .map((row) =>
      Object.fromEntries(
        Object.entries(row).filter(([name]) => !/time|second|memory|\/s$|rate$|at$/.test(name)),
      ),
    );
}

export async function good(outcome: Promise<Outcome>, codes: readonly number[] = [0]): Promise<string> {
  const { code, stdout, stderr } = await outcome;
  assert.ok(codes.includes(code ?? -1), `ended with ${code}\n${stdout}\n${stderr}`);
  return stdout;
}

const listed = async ({ machine, folder }: Played): Promise<readonly Listed[]> => {
  const { runs }: { readonly runs: readonly Listed[] } = JSON.parse(
    await good(machine.gradus(["runs", "list", "--json"], folder)),
  );
  return runs;
};
const runOf = async (played: Played, id: string): Promise<Listed> => {
  const found = (await listed(played)).find((run) => run.id === id);
  assert.ok(found, `no run ${id}`);
  return found;
};

/** Starts a run of the small config and waits until it has steps; the follower goes on. */
async function startSmall(played: Played, before: readonly string[]): Promise<string> {
  played.machine.start(["run", "small.gradus.yaml"], played.folder);
  const run = await until(
    async () => (await listed(played)).find(({ id, step }) => !before.includes(id) && step > 6),
    "steps of the run",
  );
  return run.id;
}
const ids = async (played: Played): Promise<readonly string[]> => (await listed(played)).map(({ id }) => id);

async function resumes(played: Played, id: string): Promise<void> {
  await good(played.machine.gradus(["runs", "resume", id], played.folder));
  await until(async () => (await runOf(played, id)).status === "finished", "the resumed run to finish");
}

async function reads(played: Played): Promise<void> {
  const { machine, folder } = played;
  await good(machine.gradus(["init", "first"], folder));
  writeFlatStory(join(folder, "flat"));
  const found = await good(machine.gradus(["check", "flat"], folder), [1]);
  assert.match(found, /run\.sh:\d+ .*reward/);
  const shown = await good(
    machine.gradus(["validate", machine.path(join(folder, "small.gradus.yaml"))], folder),
  );
  assert.match(shown, /no problems/);
}

/** The shipped example on the native engine, whole. */
async function learns(played: Played): Promise<string> {
  const { machine, folder } = played;
  const said = await good(machine.gradus(["run", "countdown.gradus.yaml"], join(folder, "countdown")));
  assert.match(said, /computing on native/);
  assert.match(said, /held-out after 1000 steps/);
  assert.match(said, /✔/);
  // The project has a store by now, and what lies in the project uses it.
  const runs = join(folder, ".gradus", "runs");
  const [id = ""] = readdirSync(runs).filter((name) => name.startsWith("countdown-"));
  assert.ok(readdirSync(join(runs, id, "checkpoints")).length > 0);
  return good(machine.gradus(["runs", "export", id, "--to", "csv"], join(folder, "countdown")));
}

async function stopsAndResumes(played: Played): Promise<void> {
  const { machine, folder } = played;
  const id = await startSmall(played, await ids(played));
  await good(machine.gradus(["runs", "stop", id], folder));
  await until(async () => (await runOf(played, id)).status === "stopped", "the run to stop");
  await resumes(played, id);
}

async function survivesKills(played: Played): Promise<void> {
  const { machine, folder } = played;
  const id = await startSmall(played, await ids(played));
  const { pid }: { readonly pid: number } = JSON.parse(
    readFileSync(join(folder, ".gradus", "runs", id, "worker.json"), "utf8"),
  );
  await machine.kill(pid);
  await until(
    async () => (await runOf(played, id)).status === "interrupted",
    "the run to be known as interrupted",
  );
  await resumes(played, id);
  const other = await startSmall(played, await ids(played));
  const status = JSON.parse(await good(machine.gradus(["daemon", "status", "--json"], folder)));
  await machine.kill(status.pid);
  await until(
    async () => (await runOf(played, other)).status === "finished",
    "the run to finish without its daemon",
  );
}

async function imports(played: Played): Promise<void> {
  const { machine, folder } = played;
  cpSync(join("test", "fixtures", "imported", "trl"), join(folder, "trl"), { recursive: true });
  const { run }: { readonly run: string } = JSON.parse(
    await good(
      machine.gradus(["runs", "import", machine.path(join(folder, "trl")), "--no-config", "--json"], folder),
    ),
  );
  assert.match(await good(machine.gradus(["runs", "show", run], folder)), /TRL|rollouts/);
}

async function serves(played: Played): Promise<void> {
  const { machine, folder } = played;
  const started = machine.start(["serve", "small", "--json"], folder);
  try {
    const served = await until(() => {
      const line = started.printed().trim();
      return line.endsWith("}") && (JSON.parse(line) as { url: string; token: string });
    }, "the server's address");
    const answer = await fetch(`${served.url}/v1/models`, {
      headers: { authorization: `Bearer ${served.token}` },
    });
    assert.equal(answer.status, 200, await answer.text());
  } finally {
    started.child.kill("SIGKILL");
  }
}

/** The tests of one machine. @param play gives the machine once it stands; it takes minutes */
export function tellStory(
  play: () => Promise<Played>,
  metrics: (csv: string, t: TestContext) => void | Promise<void>,
): void {
  test("init, check and validate", async () => {
    const played = await play();
    const { folder } = played;
    writeFileSync(join(folder, "small.gradus.yaml"), small);
    mkdirSync(join(folder, "flat"), { recursive: true });
    mkdirSync(join(folder, ".gradus"), { recursive: true });
    cpSync(join("examples", "countdown"), join(folder, "countdown"), { recursive: true });
    await reads(played);
  });
  test("the engine comes from the index that is named, and computes", async () => {
    const { machine, folder } = await play();
    const said = await good(machine.gradus(["engine", "install"], folder));
    assert.match(said, /^computes {2}native: TensorFlow 2\./m);
    assert.match(await good(machine.gradus(["doctor"], folder), [0, 1]), /engine +native: TensorFlow/);
  });
  test("a run stops and resumes", async () => stopsAndResumes(await play()));
  test("a killed worker's run resumes, and a killed daemon's finishes", async () =>
    survivesKills(await play()));
  test("a folder of TRL is imported", async () => imports(await play()));
  test("a policy is served", async () => serves(await play()));
  test("the example learns on the native engine", async (t) => metrics(await learns(await play()), t));
}
