/** A user's harness as real processes. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { isRunning } from "../../../../shared/daemon/process.ts";
import { ProgramPerRollout, WarmProgram, type HarnessJob } from "../../../../server/run/harness/program.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-harness-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const never = new AbortController().signal;
const job = (id: string, work: HarnessJob["work"] = {}): HarnessJob => ({
  id,
  work,
  environment: { GRADUS_TASK: JSON.stringify(work) },
});
const nodeWord = JSON.stringify(process.execPath);
const node = (script: string): string[] => [process.execPath, "-e", script];

test("a program a rollout: reads its task, prints its verdict last", async () => {
  const script = `let text = "";
    process.stdin.on("data", (data) => (text += data)).on("end", () => {
      const { answer } = JSON.parse(text);
      console.log("thinking {about} it");
      console.log(JSON.stringify({ reward: answer, components: { steps: 2 } }));
      console.log(process.env.GRADUS_TASK === text.trim() ? "the same" : "another");
    });`;
  const program = new ProgramPerRollout(node(script), folder);
  const said = await program.run(job("a", { answer: 0.5 }), 10, never);
  assert.deepEqual(said, { kind: "done", reward: 0.5, components: { steps: 2 } });
});

test("a line for the shell runs in the config's folder; without a verdict there is no reward", async () => {
  const program = new ProgramPerRollout(`${nodeWord} -p "process.cwd()" > here.txt && echo done`, folder);
  assert.deepEqual(await program.run(job("a"), 10, never), { kind: "done", components: {} });
  assert.equal(readFileSync(join(folder, "here.txt"), "utf8").trim(), folder);
});

test("what goes wrong is the rollout's error, with the program's last words", async () => {
  const crash = new ProgramPerRollout(node(`console.error("no such tool"); process.exit(3)`), folder);
  assert.deepEqual(await crash.run(job("a"), 10, never), {
    kind: "failed",
    message: "the harness ended with exit code 3: no such tool",
  });
  const missing = new ProgramPerRollout(["./no-such-program"], folder);
  const said = await missing.run(job("a"), 10, never);
  assert.match(said.kind === "failed" ? said.message : "", /could not be run: .*no-such-program/);
  const own = new ProgramPerRollout(
    node(`console.log(JSON.stringify({ error: "the box is gone" }))`),
    folder,
  );
  assert.deepEqual(await own.run(job("a"), 10, never), { kind: "failed", message: "the box is gone" });
});

test("a program that takes too long ends with all that it started", async () => {
  const pidFile = join(folder, "pid");
  const script = `const child = require("child_process").spawn(process.execPath, ["-e", "setInterval(() => 0, 1000)"]);
    require("fs").writeFileSync(${JSON.stringify(pidFile)}, String(child.pid));
    setInterval(() => 0, 1000);`;
  const program = new ProgramPerRollout(node(script), folder);
  const aborting = new AbortController();
  const running = program.run(job("a"), 60, aborting.signal);
  while (!existsSync(pidFile) || readFileSync(pidFile, "utf8") === "")
    await new Promise((resolve) => setImmediate(resolve));
  aborting.abort();
  assert.deepEqual(await running, { kind: "failed", message: "aborted" });
  const child = Number(readFileSync(pidFile, "utf8"));
  while (isRunning(child)) await new Promise((resolve) => setImmediate(resolve));
  const slow = new ProgramPerRollout(node("setInterval(() => 0, 1000)"), folder);
  assert.deepEqual(await slow.run(job("b"), 0.2, never), { kind: "failed", message: "timeout after 0.2 s" });
});

const echo = `require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, value, after, die } = JSON.parse(line);
    if (die) { console.error("out of memory"); process.exit(1); }
    if (after === undefined) console.log(JSON.stringify({ id, reward: value }));
    else setTimeout(() => console.log(JSON.stringify({ id, reward: value, components: { pid: process.pid } })), after);
  });`;

test("a warm program answers in any order, and starts again where it ended", async () => {
  const program = new WarmProgram(node(echo), folder);
  const order: string[] = [];
  const run = async (id: string, work: HarnessJob["work"]): Promise<number | undefined> => {
    const said = await program.run(job(id, work), 20, never);
    order.push(id);
    return said.kind === "done" ? said.reward : undefined;
  };
  const both = await Promise.all([run("slow", { value: 1, after: 50 }), run("quick", { value: 2 })]);
  assert.deepEqual(both, [1, 2]);
  assert.deepEqual(order, ["quick", "slow"]);
  const [dead] = await Promise.all([program.run(job("c", { die: true }), 20, never)]);
  assert.deepEqual(dead, { kind: "failed", message: "the harness ended with exit code 1: out of memory" });
  assert.equal(await run("again", { value: 3 }), 3);
  // Nobody answers: only this rollout waits for it.
  const late = await program.run(job("late", { value: 1, after: 60_000 }), 0.1, never);
  assert.deepEqual(late, { kind: "failed", message: "timeout after 0.1 s" });
  assert.equal(await run("still", { value: 4 }), 4);
  program.close();
});
