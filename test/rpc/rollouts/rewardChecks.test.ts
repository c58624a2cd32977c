/** The checks of a reward that an editor asks a real daemon for, and the attack: functions of TypeScript and Python. */
import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, describe, it } from "node:test";
import { CancellationTokenSource, type MessageConnection } from "vscode-jsonrpc/node";
import { isRunning } from "../../../shared/daemon/process.ts";
import { ask } from "../../../shared/daemon/request.ts";
import {
  curriculumTest,
  daemonStatus,
  judgeDraw,
  judgeReport,
  rewardAttack,
  rewardCheck,
  rewardPin,
  rewardTest,
  type ResultOf,
  type RewardFinding,
} from "../../../shared/protocol/protocol.ts";
import { readRewardTests } from "../../../server/analysis/rewardChecks/rewardTests.ts";
import type { Expectation } from "../../../shared/rollouts/expectation.ts";
import { appendLabel, type LabelValue } from "../../../shared/rollouts/labels.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { rewardHost } from "../../support/rewardHost.ts";
import { writeTraceRun } from "../../support/traceRun.ts";
import { withoutPython } from "../../support/pythonReward.ts";
import { Sandbox, until } from "../daemon.ts";

const config = `tasks: [{ name: sums, dataset: sums.jsonl, prompt: "{q}", answer: "{a}" }]
reward:
  terms:
    score: ./score.ts
`;
const sound = `// The last number counts.
export function score({ response, task }) {
  return response.split("####").at(-1).trim() === task.answer.replaceAll(",", "") ? 1 : 0;
}
`;
const open = sound.replace("  return", '  if (response === "") return 0.1;\n  return');
const rows = (answers: readonly string[]): string =>
  answers.map((a, i) => JSON.stringify({ q: `What comes after ${i}?`, a })).join("\n");

describe("a daemon that is asked about rewards", () => {
  let box: Sandbox;
  let connection: MessageConnection;
  let folder = "";
  before(async () => {
    await rewardHost();
    box = await Sandbox.make();
    folder = dirname(box.file);
    writeFileSync(join(folder, "sums.gradus.yaml"), config);
    writeFileSync(join(folder, "sums.jsonl"), rows(["3", "4", "1,005", "6"]));
    writeFileSync(join(folder, "score.ts"), open);
    cpSync("test/fixtures/projects/gsm", join(folder, "gsm"), { recursive: true });
    writeTraceRun(box.store, 4);
    connection = await box.connect();
  });
  after(() => box.end());

  const check = (name: string, more: object = {}): Promise<ResultOf<typeof rewardCheck>> =>
    ask(connection, rewardCheck, {
      uri: pathToFileURL(join(folder, name)).href,
      trusted: true,
      ...more,
    });
  const lines = (findings: readonly RewardFinding[] | null): string[] =>
    (findings ?? []).map(
      ({ file, line, severity, check: kind, message }) =>
        `${file.slice(folder.length + 1)}:${line} ${severity} ${kind} ${message.split("\n")[0]}`,
    );

  it("finds a hole at the line that returns it and a wrong row at the data's, and neither once they are fixed", async () => {
    const { findings, notes } = await check("sums.gradus.yaml");
    assert.deepEqual(notes, []);
    assert.deepEqual(lines(findings), [
      "score.ts:2 warning probe `score`: The empty answer scores 0.1.",
      'sums.jsonl:2 warning gold The reference answer "1,005" does not succeed: score 0.',
    ]);
    const unsaved = { [join(folder, "score.ts")]: sound };
    assert.deepEqual(lines((await check("sums.gradus.yaml", { unsaved })).findings), [
      'sums.jsonl:2 warning gold The reference answer "1,005" does not succeed: score 0.',
    ]);
    writeFileSync(join(folder, "score.ts"), sound.replace(".trim() ===", '.trim().replaceAll(",", "") ==='));
    assert.deepEqual(await check("sums.gradus.yaml"), { findings: [], notes: [] });
    writeFileSync(join(folder, "score.ts"), open);
  });

  it("reports what many wrong rows have in common once, at the reward, and nothing in the data", async () => {
    const text = config.replace("sums.jsonl", "many.jsonl");
    writeFileSync(
      join(folder, "many.jsonl"),
      rows(Array.from({ length: 80 }, (_, i) => (i < 60 ? `1,0${i + 10}` : `${i}`))),
    );
    const { findings } = await check("sums.gradus.yaml", { text });
    const gold = (findings ?? []).filter(({ check: kind }) => kind === "gold");
    assert.deepEqual(lines(gold), [
      'score.ts:1 warning gold 60 of 80 reference answers do not succeed, all with thousands commas; first row 1: the reference answer "1,010" does not succeed: score 0. Let the reward read such answers, or write them otherwise in the data.',
    ]);
  });

  it("reports a failure of one cause once, at the line that throws, whatever it failed on", async () => {
    const unsaved = {
      [join(folder, "score.ts")]: sound.replace(
        "  return",
        '  if (response !== "") throw new RangeError(`no ${response}`);\n  return',
      ),
    };
    const { findings } = await check("sums.gradus.yaml", { unsaved });
    assert.equal(findings?.length, 1, lines(findings).join("\n"));
    assert.match(
      lines(findings)[0]!,
      /^score\.ts:2 warning probe `score` fails on \d+ of \d+ answers, first on row 1 of sums\.jsonl: threw RangeError: no .* Fix that line, then check again\.$/,
    );
  });

  it("puts what is wrong with a built-in method at its key", async () => {
    const { findings } = await check("sums.gradus.yaml", { text: config.replace("./score.ts", "numeric") });
    assert.ok(
      lines(findings).some((line) => line.startsWith("sums.gradus.yaml:3 warning probe `score`: ")),
      lines(findings).join("\n"),
    );
  });

  it("says at its line why a function cannot be loaded", async () => {
    const unsaved = { [join(folder, "score.ts")]: "export const score = () => {\n" };
    const { findings } = await check("sums.gradus.yaml", { unsaved });
    assert.match(lines(findings).join("\n"), /^score\.ts:\d error load /);
  });

  it("is overtaken by the next request for the same config, and answers others meanwhile", async () => {
    const [slow, trace] = [join(folder, "score.ts"), join(folder, "pid")];
    writeFileSync(
      slow,
      `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(trace)}, String(process.pid));\nwhile (true);\n${sound}`,
    );
    const first = check("sums.gradus.yaml");
    const pid = await until(
      async () => Number(existsSync(trace) ? readFileSync(trace, "utf8") : 0) || null,
      "the function to be loaded",
    );
    assert.equal((await ask(connection, daemonStatus, {})).version.length > 0, true);
    writeFileSync(slow, open);
    const second = await check("sums.gradus.yaml");
    assert.deepEqual([(await first).findings, second.findings?.length], [null, 2]);
    await until(async () => (isRunning(pid) ? null : true), "the process that never ends to be ended");
  });

  it("runs nothing of a workspace that is not trusted", async () => {
    const trace = join(folder, "ran");
    const own = `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(trace)}, "");\n${open}`;
    writeFileSync(join(folder, "score.ts"), own);
    assert.deepEqual(await check("sums.gradus.yaml", { trusted: false }), { findings: [], notes: [] });
    await assert.rejects(
      ask(connection, rewardAttack, { uri: join(folder, "sums.gradus.yaml") }),
      /it needs a trusted workspace/,
    );
    assert.ok(!existsSync(trace));
    writeFileSync(join(folder, "score.ts"), open);
  });

  it("pins recorded rollouts as tests next to the reward, and runs those that belong to a config", async () => {
    await box.reach(connection, "trace", ({ status }) => status === "finished");
    writeFileSync(join(folder, "score.ts"), open);
    const asked = { uri: join(folder, "sums.gradus.yaml"), trusted: true };
    const which = { run: "trace", step: 4, group: "4/0" };
    const pin = (index: number, expect: Expectation) =>
      ask(connection, rewardPin, { ...asked, ...which, index, expect });
    await assert.rejects(
      ask(connection, rewardPin, { ...asked, ...which, index: 0, expect: { at_most: 0 }, trusted: false }),
      /it needs a trusted workspace/,
    );
    await assert.rejects(pin(77, { at_most: 0 }), /has no rollout 4\/0#77/);
    const file = join(folder, "score.reward.test.jsonl");
    assert.deepEqual(await pin(0, { term: "score", at_most: 0 }), { file, line: 0, added: true });
    assert.deepEqual(await pin(1, { at_least: 1 }), { file, line: 1, added: true });
    assert.deepEqual(await pin(0, { term: "score", at_most: 0 }), { file, line: 0, added: false });
    const [first] = await readRewardTests(file);
    assert.deepEqual([first?.row.run, first?.row.step, first?.row.task?.id], ["trace", 4, "route-17"]);
    const run = (more: object) => ask(connection, rewardTest, { trusted: true, ...more });
    const failures = async (more: object) =>
      (await run(more)).outcomes.map(({ line, failure }) => `${line} ${failure ?? "passed"}`);
    const expected = ["0 passed", "1 the reward is 0, below 1"];
    assert.deepEqual(await failures({ uri: asked.uri }), expected);
    assert.deepEqual(await failures({ files: [file] }), expected);
    // As it is in an editor.
    const unsaved = { [join(folder, "score.ts")]: "export const score = () => 1;\n" };
    assert.deepEqual(await failures({ uri: asked.uri, unsaved }), ["0 `score` is 1, above 0", "1 passed"]);
    writeFileSync(join(folder, "odd.reward.test.jsonl"), "{}\n");
    assert.match(
      (await run({ files: [join(folder, "odd.reward.test.jsonl")] })).broken[0]!.message,
      /expect/,
    );
    assert.deepEqual((await run({ uri: asked.uri })).broken, []);
    await assert.rejects(ask(connection, rewardTest, { uri: asked.uri }), /they need a trusted workspace/);
    rmSync(join(folder, "odd.reward.test.jsonl"));
    rmSync(file);
  });

  it("runs tests of curricula, with what failed at its place and what cannot be run", async () => {
    const file = join(folder, "sums.curriculum.test.yaml");
    const odd = join(folder, "odd.curriculum.test.yaml");
    writeFileSync(
      file,
      `tests:
  - name: draws something
    steps: 5
    expect:
      - { metric: groups/drawn, at_least: 1 }
      - { metric: groups/drawn, at_most: 1 }
`,
    );
    writeFileSync(odd, "config: sums.gradus.yaml\ntest: []\n");
    const { outcomes, broken } = await ask(connection, curriculumTest, { files: [file, odd] });
    const [failure] = outcomes[0]!.failures;
    assert.deepEqual(
      outcomes.map(({ line, name, failures }) => [line, name, failures.length]),
      [[1, "draws something", 1]],
    );
    assert.deepEqual([failure!.line, failure!.character], [5, 8]);
    assert.match(failure!.message, /^`groups\/drawn` is \d+ over steps 1 to 5, above 1: level /);
    assert.deepEqual(
      broken.map(({ line, character }) => [line, character]),
      [[1, 0]],
    );
    assert.match(broken[0]!.message, /Did you mean `tests`\?/);
    for (const one of [file, odd]) rmSync(one);
  });

  it("draws rollouts to label, and reports on a judge by its recorded scores or by asking it", async () => {
    const part = { run: "trace", term: "found" };
    const { drawn, candidates } = await ask(connection, judgeDraw, part);
    assert.equal(candidates, 4);
    assert.deepEqual(
      drawn.map(({ row, score, weight }) => [row.index % 2, score, weight]).sort(),
      [0, 0, 1, 1].map((score) => [score, score, 1]),
    );
    assert.ok(drawn.every(({ row }) => row.run === "trace" && row.response !== ""));
    const known = [{ step: 4, group: "4/0", index: 0 }];
    const rest = await ask(connection, judgeDraw, { ...part, known });
    assert.deepEqual(rest.drawn.map(({ row }) => row.index).sort(), [1, 2, 3]);
    assert.equal((await ask(connection, judgeDraw, { ...part, count: 2, known })).drawn.length, 1);
    await assert.rejects(
      ask(connection, judgeDraw, { ...part, term: "manners" }),
      /has a score of `manners`/,
    );

    const asked = { uri: join(folder, "sums.gradus.yaml"), term: "score" };
    const row = (index: number, response: string): RolloutRow => ({
      ...{ run: "trace", step: 4, group: "4/0", index, response },
      task: { env: "sums", data: { answer: "3" } },
    });
    const label = (index: number, response: string, value: LabelValue): void =>
      appendLabel(join(folder, "sums.labels.jsonl"), {
        row: row(index, response),
        label: { term: "score", value, score: 0, weight: 1 },
      });
    label(0, "#### 3", "good");
    label(1, "#### 4", "bad");
    label(2, "3, I think", "good");
    const recorded = (await ask(connection, judgeReport, asked)).report;
    assert.deepEqual([recorded.scores, recorded.labels, recorded.passed.labels], ["recorded", 3, 0]);
    await assert.rejects(ask(connection, judgeReport, { ...asked, ask: true }), /needs a trusted workspace/);
    const now = (await ask(connection, judgeReport, { ...asked, ask: true, trusted: true })).report;
    assert.equal(now.agreement?.value, 2 / 3);
    assert.deepEqual([now.scores, now.flips?.value, now.disagreements[0]?.index], ["asked", 0, 2]);
    // As the function is in the editor.
    const unsaved = { [join(folder, "score.ts")]: "export const score = () => 1;\n" };
    const edited = await ask(connection, judgeReport, { ...asked, ask: true, trusted: true, unsaved });
    assert.equal(edited.report.passed.labels, 3);
  });

  it("attacks, and writes what it finds as failing tests; a cancelled attack writes nothing", async () => {
    writeFileSync(
      join(folder, "score.ts"),
      'export const score = ({ response }) => (response.includes("proved") ? 1 : 0);\n',
    );
    const asked = { uri: join(folder, "sums.gradus.yaml"), trusted: true };
    const tests = join(folder, "score.reward.test.jsonl");
    const source = new CancellationTokenSource();
    const cancelled = ask(connection, rewardAttack, { ...asked, seconds: 60 }, source.token);
    source.cancel();
    assert.deepEqual((await cancelled).holes, []);
    assert.ok(!existsSync(tests));
    const { holes, file, answers } = await ask(connection, rewardAttack, { ...asked, seconds: 1 });
    assert.ok(holes.length > 0 && answers > 0);
    assert.match(holes[0]!.message, /succeeds on 100 % of the tasks, reward 1: .*proved/);
    assert.equal(file, tests);
    assert.ok((await readRewardTests(tests)).length > 0);
    // Without its data other tasks do, where the reward can score them.
    const data = join(folder, "sums.jsonl");
    renameSync(data, `${data}.gone`);
    try {
      await assert.rejects(ask(connection, rewardAttack, { ...asked, seconds: 1 }), /there is no such file/);
      writeFileSync(
        join(folder, "score.ts"),
        'export const score = ({ response, task }) => (response.includes("proved") || response.trim() === task.answer ? 1 : 0);\n',
      );
      const found = await ask(connection, rewardAttack, { ...asked, seconds: 1 });
      assert.match(found.holes[0]!.message, /proved/);
    } finally {
      renameSync(`${data}.gone`, data);
    }
    writeFileSync(join(folder, "score.ts"), open);
  });

  it(
    "checks the reward of verl's launch script, with many rows of Parquet in one finding at the function",
    { skip: withoutPython },
    async () => {
      assert.deepEqual(await check("gsm/run.sh"), { findings: [], notes: [] });
      const reward = join(folder, "gsm", "reward.py");
      const text = readFileSync(reward, "utf8");
      const small = text.replace(
        "    return 1.0 if",
        "    if len(answer) > 2:\n        return 0.0\n    return 1.0 if",
      );
      writeFileSync(
        reward,
        small.replace("        return 0.0\n    answer", "        return 0.5\n    answer"),
      );
      const found = lines((await check("gsm/run.sh")).findings);
      assert.equal(found[0], "gsm/reward.py:10 warning probe `score`: The empty answer scores 0.5.");
      const gold = found.filter((line) => line.includes(" gold "));
      assert.equal(gold.length, 1);
      assert.match(
        gold[0]!,
        /^gsm\/reward\.py:7 warning gold 9 of 50 reference answers do not succeed; first row 5: the reference answer "104" does not succeed: score 0\./,
      );
      writeFileSync(reward, text.replace("import re\n", "import absent_package as re\n"));
      const [load] = (await check("gsm/run.sh")).findings ?? [];
      assert.deepEqual([load?.check, load?.file, load?.line], ["load", reward, 2], JSON.stringify(load));
      assert.match(load?.message ?? "", /No module named 'absent_package'.* Install `absent_package` for /s);
    },
  );
});
