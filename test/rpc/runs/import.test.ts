/** A run of another trainer in a real daemon's store: imported while it serves, listed, explained, scored again, rebuilt. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, describe, it } from "node:test";
import type { MessageConnection } from "vscode-jsonrpc/node";
import { ask } from "../../../shared/daemon/request.ts";
import {
  curriculumQuery,
  daemonShutdown,
  evaluationsQuery,
  eventsQuery,
  groupsQuery,
  matrixQuery,
  metricsSeries,
  rescore,
  rewardCoverage,
  rewardErrors,
  rolloutsQuery,
  rolloutsWhy,
  runsList,
  runsResume,
  runsShow,
  tasksQuery,
} from "../../../shared/protocol/protocol.ts";
import { gradus } from "../../support/cli.ts";
import { rewardHost } from "../../support/rewardHost.ts";
import { Sandbox, until } from "../daemon.ts";

const text = `name: sums
tasks: [{ env: countdown, numbers: [3] }]
reward: { terms: { answer: ./answer.ts } }
rollout: { group: 4 }
steps: 5
`;
const reward = (wrong: number): string => `export const score = ({ response, task }) =>
  response.endsWith("#### " + task.answer) ? 1 : ${wrong};\n`;

describe("a daemon whose store gets a run of verl", () => {
  let box: Sandbox;
  let connection: MessageConnection;
  let run = "";
  let file = "";
  let output = "";
  const told = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await gradus(words, dirname(box.file));
    assert.equal(code, 0, stderr);
    return stdout;
  };
  before(async () => {
    await rewardHost();
    box = await Sandbox.make();
    file = join(dirname(box.file), "sums.gradus.yaml");
    output = join(dirname(box.file), "out");
    writeFileSync(file, text);
    writeFileSync(join(dirname(file), "answer.ts"), reward(0.1));
    cpSync("test/fixtures/imported/verl", output, { recursive: true });
    connection = await box.connect();
    const answer = JSON.parse(await told("runs", "import", "out", "--config", file, "--json"));
    assert.deepEqual([answer.trainer, answer.rollouts, answer.advantages], ["verl", 80, "grpo"]);
    run = answer.run;
  });
  after(() => box.end());

  it("lists it as soon as the command has ended, and answers what a panel asks", async () => {
    const { runs } = await ask(connection, runsList, {});
    assert.deepEqual(
      runs.map(({ id, status, origin }) => [id, status, origin?.folder]),
      [[run, "finished", output]],
    );
    const { series } = await ask(connection, metricsSeries, { run, metrics: ["reward/total"], buckets: 100 });
    assert.equal(series[0]?.total, 5);
    const none = await Promise.all([
      ask(connection, curriculumQuery, { run }),
      ask(connection, eventsQuery, { run }),
      ask(connection, evaluationsQuery, { run }),
      ask(connection, matrixQuery, { run }),
      ask(connection, tasksQuery, { run }),
      ask(connection, rewardErrors, { run }),
    ]);
    assert.deepEqual([none[1].events, none[2].evaluations, none[5].failures], [[], [], []]);
    const { rollouts } = await ask(connection, rolloutsQuery, { run, step: 4, where: "reward == 1" });
    assert.ok(
      rollouts.length > 0 && rollouts.every(({ step, advantage }) => step === 4 && Number(advantage) >= 0),
    );
    const { groups } = await ask(connection, groupsQuery, { run, step: 4 });
    assert.equal(groups.length, 4);
  });

  it("says why the training failed, by a log next to what it wrote, also where that is all there is", async () => {
    const failed = [
      "Error executing job with overrides: ['actor_rollout_ref.rollout.n=4']",
      "Traceback (most recent call last):",
      '  File "/home/me/verl/workers/actor/dp_actor.py", line 501, in update_policy',
      '  File "/env/site-packages/torch/_tensor.py", line 648, in backward',
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    ];
    const other = join(dirname(box.file), "failed");
    cpSync(output, other, { recursive: true });
    writeFileSync(join(other, "train.log"), failed.join("\n"));
    const words = [
      "runs",
      "import",
      "failed",
      "--no-config",
      "--store",
      join(dirname(box.file), "elsewhere", ".gradus"),
    ];
    const { stderr, stdout } = await gradus(words, dirname(box.file));
    assert.match(stdout, /^failed-.*\nverl/);
    assert.match(
      stderr,
      /the training failed \(failed\/train\.log:5\): The device ran out of memory in the backward pass.*Lower actor_rollout_ref\.actor\.ppo_micro_batch_size_per_gpu/,
    );
    const { failure } = JSON.parse((await gradus([...words, "--json", "--again"], dirname(box.file))).stdout);
    assert.deepEqual(
      [failure.trainer, failure.where],
      ["verl", "/home/me/verl/workers/actor/dp_actor.py:501"],
    );
    for (const name of ["rollouts", "metrics.jsonl"]) rmSync(join(other, name), { recursive: true });
    const nothing = await gradus(words, dirname(box.file));
    assert.equal(nothing.code, 1);
    assert.match(nothing.stderr, /the training failed[^]*There is nothing to import in this folder/);
  });

  it("takes a file as well as a folder: an evaluation of Inspect, a project of trackio", async () => {
    const trackers = "test/fixtures/trackers";
    const [name = ""] = readdirSync(join(trackers, "inspect"));
    cpSync(join(trackers, "inspect", name), join(dirname(box.file), "sums.eval"));
    cpSync(join(trackers, "trackio", "sums.db"), join(dirname(box.file), "sums.db"));
    const elsewhere = ["--store", join(dirname(box.file), "files", ".gradus")];
    assert.match(
      await told("runs", "import", "sums.eval", ...elsewhere),
      /\nInspect 0\.3\.285 · 4 rollouts of evaluations/,
    );
    assert.match(await told("runs", "import", "sums.db", ...elsewhere), /\ntrackio · 6 steps with metrics/);
  });

  it("explains a rollout of it, in the daemon and on the command line, by the group's name or number", async () => {
    const { rollouts } = await ask(connection, rolloutsQuery, { run, step: 5 });
    const { group, index, advantage } = rollouts[9]!;
    const why = await ask(connection, rolloutsWhy, { run, step: 5, group, index });
    assert.deepEqual([why.baseline, why.advantage], ["group_mean", advantage]);
    const named = JSON.parse(
      await told("explain", file, "--rollouts", "last", "--why", `${group}#${index}`, "--json"),
    );
    const numbered = JSON.parse(await told("explain", file, "--rollouts", run, "--why", "5/2#1", "--json"));
    assert.deepEqual([named.step, named.advantage, numbered], [5, advantage, named]);
    // From a folder without a store: the config's is used.
    const gone = await gradus(["explain", file, "--rollouts", "last", "--why", "4#2"], tmpdir());
    assert.match(
      gone.stderr,
      /no rollout 4#2 .*\n +Step 5 has groups 0 to 3 of 4 rollouts: write 0#0 to 3#3, or/,
    );
    const lines = (await told("explain", file, "--rollouts", "last", "--json")).trim().split("\n");
    assert.equal(lines.length, 85);
    const other = await gradus(["explain", box.file, "--rollouts", "last", "--step", "5"], dirname(file));
    assert.match(
      other.stdout,
      /^step 5\n(?:.*\n)*.* #0 {2}reward 0\.1 {2}advantage -1\.4997 {2}tokens 0\/0\n/,
    );
  });

  it("scores its rollouts again by an edited reward", async () => {
    const uri = pathToFileURL(file).href;
    // The file as it was at the import is no edit.
    const same = await ask(connection, rescore, { uri, trusted: true, scope: "run" });
    assert.deepEqual(
      same.rescored?.change.terms.map(({ term, changed }) => [term, changed]),
      [["answer", 0]],
    );
    const unsaved = { [join(dirname(file), "answer.ts")]: reward(0.5) };
    const { rescored } = await ask(connection, rescore, { uri, trusted: true, scope: "run", unsaved });
    assert.deepEqual([rescored?.steps, rescored?.notes], [5, []]);
    const [term] = rescored?.change.terms ?? [];
    // 0.1 became 0.5, and the rollout whose score was NaN has a reward now.
    assert.deepEqual([term?.term, term?.changed, term?.errors], ["answer", 36, 0]);
    assert.ok(Number(rescored?.change.mean.now) > Number(rescored?.change.mean.before));
  });

  it("says what its rollouts reach of the reward, in the daemon and on the command line", async () => {
    const { coverage } = await ask(connection, rewardCoverage, { uri: file, trusted: true });
    assert.deepEqual([coverage?.steps, coverage?.of, coverage?.rollouts], [5, 5, 80]);
    const words = ["reward", file, "--rollouts", "last", "--coverage", "--json"];
    const [own] = (await told(...words)).split("\n");
    assert.deepEqual(JSON.parse(own ?? ""), { type: "coverage", ...coverage?.files[0] });
    assert.ok(coverage?.files[0]?.lines.some(({ rollouts }) => rollouts === 80));
  });

  it("is searched by what its answers hold, alone or with all of the store", async () => {
    const { rollouts } = await ask(connection, rolloutsQuery, { run, step: 4 });
    const [word] = /\p{L}{4,}/u.exec(rollouts[0]?.response ?? "") ?? [];
    assert.ok(word !== undefined);
    const lines = (await told("rollouts", run, "--search", word, "--step", "4", "--json")).trim().split("\n");
    const hits: { step: number; snippet: { text: string; marks: [number, number][] } }[] = lines.map((line) =>
      JSON.parse(line),
    );
    assert.ok(hits.every(({ step }) => step === 4));
    const { text: part, marks } = hits[0]!.snippet;
    assert.equal(part.slice(...marks[0]!).toLowerCase(), word.toLowerCase());
    assert.match(await told("rollouts", "--search", `${word.slice(0, 3)}*`), /step \d+ .*reward/);
    const nothing = await gradus(["rollouts"], dirname(box.file));
    assert.match(nothing.stderr, /Name a run, or what to look for/);
  });

  it("is exported and shown, and cannot be resumed", async () => {
    const lines = (await told("runs", "export", run)).trim().split("\n");
    assert.equal(lines.length, 80);
    assert.match(await told("runs", "show", run), /imported {4}verl, from .*: 80 rollouts in 5 steps/);
    assert.match(await told("runs", "list"), /finished +5\/5/);
    assert.match(await told("rollouts", run, "--step", "3"), /step 3 {2}[0-9a-f-]{36} {2}verl/);
    await assert.rejects(ask(connection, runsResume, { run }), /imported from verl: it has no checkpoint/);
  });

  it("is the same after the tables are gone, says so where a file is another, and goes without the files", async () => {
    const whole = () => ask(connection, rolloutsQuery, { run, limit: 100 });
    const before = [await whole(), await ask(connection, runsShow, { run })];
    await ask(connection, daemonShutdown, {});
    await until(async () => (box.discovery() === null ? true : null), "the daemon to end");
    for (const name of readdirSync(box.store).filter((one) => one.startsWith("store.sqlite")))
      rmSync(join(box.store, name), { recursive: true });
    connection = await box.connect();
    await box.reach(connection, run, ({ status }) => status === "finished");
    assert.deepEqual([await whole(), await ask(connection, runsShow, { run })], before);
    writeFileSync(join(output, "rollouts", "2.jsonl"), "{}\n");
    const { code, stdout, stderr } = await gradus(["rollouts", run, "--step", "2"], dirname(file));
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /2\.jsonl: error: The rollouts of step 2 are not shown: their file has changed/);
    // The other steps answer.
    const warning = /2\.jsonl: warning: The rollouts of step 2 are not shown: their file has changed/g;
    const listed = await gradus(["rollouts", run, "--json"], dirname(file));
    assert.deepEqual([listed.code, listed.stdout.trim().split("\n").length], [0, 64]);
    assert.equal(listed.stderr.match(warning)?.length, 1);
    const scored = await gradus(["reward", file, "--rollouts", run, "--json"], dirname(file));
    assert.equal(JSON.parse(scored.stdout.trim().split("\n").at(-1)!).rollouts, 64);
    assert.equal(scored.stderr.match(warning)?.length, 1);
    const unsaved = { [join(dirname(file), "answer.ts")]: reward(0.7) };
    const asked = { uri: pathToFileURL(file).href, trusted: true, scope: "run", unsaved } as const;
    const { rescored } = await ask(connection, rescore, asked);
    assert.deepEqual([rescored?.steps, rescored?.from, rescored?.to], [4, 1, 5]);
    assert.match(rescored?.notes.join() ?? "", /step 2 are not shown/);
    await told("runs", "delete", run);
    assert.deepEqual((await ask(connection, runsList, {})).runs, []);
    assert.deepEqual(readdirSync(join(box.store, "runs")), []);
    assert.equal(readdirSync(join(output, "rollouts")).length, 5);
  });
});

/** The first story: a folder of verl, nothing of ours in it. */
describe("a project of verl that is used as it is", () => {
  let box: Sandbox;
  let folder = "";
  const command = (...words: string[]) => gradus(words, folder);
  before(async () => {
    await rewardHost();
    box = await Sandbox.make();
    folder = join(dirname(box.file), "gsm");
    cpSync("test/fixtures/projects/gsm", folder, { recursive: true });
    cpSync("test/fixtures/imported/verl", join(folder, "out"), { recursive: true });
  });
  after(() => box.end());

  it("is checked, tried, imported and explained by its own launch script", async () => {
    assert.match(
      (await command("validate", ".")).stderr,
      /^out\/rollouts: info: 5 steps you can open: gradus runs import out --config run\.sh$/m,
    );
    assert.match((await command("reward", "run.sh", "--gold")).stdout, /^50 of 50 gold answers score 1 /);
    const { stdout } = await command("runs", "import", "out", "--config", "run.sh");
    assert.match(
      stdout,
      /^verl 0\.9\.1 · 5 steps · 80 rollouts · groups by the first part of uid · advantages computed here by grpo · 1 rollout has no score \(NaN\): 3\.jsonl:7 · .* · missing: /m,
    );
    const why = await command("explain", "run.sh", "--rollouts", "last", "--why", "1#1");
    assert.match(why.stdout, /^ {2}Its reward is 1, 0\.225 above the mean of its group/m);
    // float32 is what verl records: 0.1 is no change. One rollout was NaN.
    assert.match(
      (await command("reward", "run.sh", "--rollouts", "last")).stdout,
      /^ {2}score: .*; 0 changed, 0 failed, 1 had no recorded value$/m,
    );
  });

  it("is imported by the script near the folder where none is named, which is said; several have to be named", async () => {
    const found = await command("runs", "import", "out", "--json", "--again");
    const { config, foundConfig, advantages, run } = JSON.parse(found.stdout);
    assert.deepEqual([config, foundConfig, advantages], [join(folder, "run.sh"), true, "grpo"]);
    await command("runs", "delete", run);
    const none = await command("runs", "import", "out", "--no-config");
    assert.match(none.stdout, /no advantages: name the run's config with --config/);
    await command("runs", "delete", none.stdout.split("\n")[0]!);
    const other = join(folder, "again.sh");
    cpSync(join(folder, "run.sh"), other);
    // One of them names the folder, and the other does not.
    writeFileSync(other, readFileSync(other, "utf8").replaceAll("out/", "elsewhere/"));
    const named = await command("runs", "import", "out", "--again");
    assert.match(named.stdout, /^by run\.sh, found near the folder: --config names another$/m);
    await command("runs", "delete", named.stdout.split("\n")[0]!);
    cpSync(join(folder, "run.sh"), other);
    const several = await command("runs", "import", "out");
    assert.match(
      several.stderr,
      /^several configs lie near the folder \(again\.sh, run\.sh\): name the run's with/m,
    );
    await command("runs", "delete", several.stdout.split("\n")[0]!);
    rmSync(other);
  });

  it("answers an edit of its reward.py", async () => {
    await answersEdits(await box.connect(), join(folder, "run.sh"));
  });

  it("answers it for a script in a folder of its own too, as the editor has it", async () => {
    const script = join(folder, "scripts", "train.sh");
    mkdirSync(dirname(script));
    renameSync(join(folder, "run.sh"), script);
    const { stdout } = await command("runs", "import", "out");
    assert.match(stdout, /scripts\/train\.sh/);
    await answersEdits(await box.connect(), script, readFileSync(script, "utf8"));
  });

  /** @param text of the script in an editor; undefined: as it is on disk */
  async function answersEdits(connection: MessageConnection, script: string, text?: string): Promise<void> {
    const uri = pathToFileURL(script).href;
    const reward = join(folder, "reward.py");
    const edited = readFileSync(reward, "utf8").replace("else format_score", "else -0.5");
    const question = { uri, text, trusted: true, scope: "run", unsaved: { [reward]: edited } } as const;
    await ask(connection, rescore, question);
    const { rescored } = await ask(connection, rescore, {
      ...question,
      unsaved: { [reward]: edited.replace("-0.5", "-0.25") },
    });
    assert.deepEqual([rescored?.steps, rescored?.notes], [5, []]);
    const [term] = rescored?.change.terms ?? [];
    assert.deepEqual([term?.term, term?.changed, term?.errors], ["score", 36, 0]);
    assert.ok(Number(rescored?.change.mean.now) < Number(rescored?.change.mean.before));
  }
});
