/**
 * A store that an earlier version wrote, with what its runs can remember: it is listed, shown and exported, every
 * command answers in the shape that programs rely on, and runs that were stopped or killed come to the same numbers.
 */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { effective } from "../../bench/kills/compare.ts";
import { work } from "../../server/run/loop/worker.ts";
import { gradus as hosted } from "../support/cli.ts";
import { earlierConfigs } from "../support/earlierConfigs.ts";
import { assertFrozen, valueLines } from "../support/frozen.ts";
import { essence } from "../support/runFolder.ts";

let base: string;
let project: string;
const runtimeBefore = process.env["XDG_RUNTIME_DIR"];
before(() => {
  base = mkdtempSync(join(tmpdir(), "gradus-earlier-"));
  project = join(base, "project");
  cpSync(resolve("test/fixtures/earlierStore"), project, { recursive: true });
  cpSync(join(project, "store"), join(project, ".gradus"), { recursive: true });
  rmSync(join(project, "store"), { recursive: true });
  mkdirSync(join(base, "run"), { mode: 0o700 });
  process.env["XDG_RUNTIME_DIR"] = join(base, "run");
});
after(async () => {
  await gradus(["daemon", "stop"]);
  if (runtimeBefore === undefined) delete process.env["XDG_RUNTIME_DIR"];
  else process.env["XDG_RUNTIME_DIR"] = runtimeBefore;
  rmSync(base, { recursive: true, force: true });
});

/** The folders of a config's runs: the one that ended well, and the one that was stopped or killed. */
function runsOf(name: string): readonly [string, string] {
  const runs = join(project, ".gradus", "runs");
  const [whole, broken, more] = readdirSync(runs)
    .filter((run) => run.startsWith(`${name}-`))
    .sort();
  assert.ok(whole !== undefined && broken !== undefined && more === undefined, `${name} has two runs`);
  return [join(runs, whole), join(runs, broken)];
}

const gradus = (words: readonly string[]): ReturnType<typeof hosted> => hosted(words, project);

/** What a command prints with --json, a value a line or one in all. */
async function answers(words: readonly string[], json = true): Promise<unknown[]> {
  const { code, stdout, stderr } = await gradus(json ? [...words, "--json"] : words);
  assert.equal(code, 0, `gradus ${words.join(" ")}: ${stderr}`);
  try {
    return [JSON.parse(stdout)];
  } catch {
    return stdout
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
  }
}

test("its runs are listed with what became of them", async () => {
  const [list] = (await answers(["runs", "list"])) as { runs: { name: string; status: string }[] }[];
  assert.deepEqual(
    list!.runs.map((run) => `${run.name} ${run.status}`).sort(),
    earlierConfigs
      .flatMap(({ name, how }) => [
        `${name} finished`,
        `${name} ${how === "kill" ? "interrupted" : "stopped"}`,
      ])
      .sort(),
  );
});

test("every command answers in the shape that programs rely on", async () => {
  const run = basename(runsOf("lora")[0]);
  const rollouts = join(project, "rollouts.jsonl");
  const history = join(project, "history.jsonl");
  await gradus(["runs", "export", run, "--out", rollouts]);
  await gradus(["runs", "export", run, "--to", "history", "--out", history]);
  writeFileSync(join(project, "wrong.gradus.yaml"), "nmae: x\nrollout: { group: 1 }\n");
  const config = "lora.gradus.yaml";
  const asked: Readonly<Record<string, readonly string[]>> = {
    resolve: ["resolve", config],
    validate: ["validate", config],
    explain: ["explain", config, "--rollouts", rollouts],
    reward: ["reward", config, "--rollouts", rollouts],
    curriculum: ["curriculum", config, "--history", history],
    simulate: ["curriculum", config, "--simulate", "--steps", "3"],
    "runs list": ["runs", "list"],
    "runs show": ["runs", "show", run],
    "runs follow": ["runs", "follow", run],
    rollouts: ["rollouts", run, "--step", "4"],
    convert: ["convert", resolve("test/fixtures/convert", "openrlhf.sh")],
    rules: ["rules"],
    presets: ["presets"],
    "daemon status": ["daemon", "status"],
  };
  for (const [name, words] of Object.entries(asked)) {
    const values = await answers(words);
    assertFrozen(
      `json/${name.replace(" ", "-")}`,
      values.flatMap((value) => valueLines(value, "")),
    );
  }
  for (const form of ["jsonl", "history", "json"]) {
    const values = await answers(["runs", "export", run, "--to", form], false);
    assertFrozen(
      `json/export-${form}`,
      values.flatMap((value) => valueLines(value, "")),
    );
  }
  const [methods] = (await answers(["methods"])) as { params: unknown }[][];
  // Parameters are another frozen list.
  assertFrozen(
    "json/methods",
    valueLines(
      methods!.map((method) => ({ ...method, params: {} })),
      "",
    ),
  );
  const wrong = await gradus(["validate", "wrong.gradus.yaml", "--json"]);
  assert.equal(wrong.code, 1);
  assertFrozen("json/validate-errors", valueLines(JSON.parse(wrong.stdout), ""));
});

/** What is logged since these runs were made. */
const newMetrics: ReadonlySet<unknown> = new Set([
  "groups/success_rate",
  "rollout/unearned",
  "reward/total/p10",
  "reward/total/p90",
  "rollout/length/p10",
  "rollout/length/p50",
  "rollout/length/p90",
]);
const isNew = (path: string, key: string): boolean =>
  (path.endsWith("/task") && key === "answer") || key === "results";
const known = (found: object): object =>
  Array.isArray(found)
    ? found.filter((one: unknown) => !Array.isArray(one) || !newMetrics.has(one[0]))
    : found;

/** Processors differ in the last bits of a sum. */
function assertAlike(found: unknown, wanted: unknown, path: string): void {
  if (typeof found === "number" && typeof wanted === "number") {
    const scatter = 1e-4 * Math.max(1e-2, Math.abs(wanted));
    assert.ok(Math.abs(found - wanted) <= scatter, `${path}: ${found}, not ${wanted}`);
  } else if (typeof found === "object" && typeof wanted === "object" && found !== null && wanted !== null) {
    const own = Object.entries(known(found)).filter(([key]) => !isNew(path, key));
    assert.deepEqual(
      own.map(([key]) => key),
      Object.keys(wanted),
      path,
    );
    const other = Object.entries(wanted);
    own.forEach(([key, value], i) => assertAlike(value, other[i]?.[1], `${path}/${key}`));
  } else assert.equal(found, wanted, path);
}

for (const { name, how } of earlierConfigs)
  test(`${name}: the run that was ${how === "kill" ? "killed" : "stopped"} comes to the numbers of the whole one`, async () => {
    const [whole, broken] = runsOf(name);
    assert.equal(await work({ folder: broken, attempt: 1, version: "0.0.0" }), 0);
    const rows = (folder: string): unknown => JSON.parse(JSON.stringify(essence(effective(folder), -1)));
    assertAlike(rows(broken), rows(whole), name);
  });
