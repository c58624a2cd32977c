/** The processes that programs run in: what they are told, how they end, and that none outlives who began it. */
import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { setTimeout as later } from "node:timers/promises";
import { build } from "esbuild";
import { frameOf, Frames } from "../../../server/lib/sandbox/frames.ts";
import { openSandbox } from "../../../server/lib/sandbox/openSandbox.ts";
import { partsOf } from "../../../server/lib/sandbox/parts.ts";
import { wallOf } from "../../../server/lib/sandbox/wall/wall.ts";
import type { SandboxProgram } from "../../../server/lib/sandbox/sandbox.ts";
import { sandboxProcess } from "../../support/sandboxProcess.ts";
import { until } from "../../support/until.ts";

await sandboxProcess();
const sandbox = openSandbox();
after(() => sandbox.close());

const python = (code: string, more: Partial<SandboxProgram> = {}): SandboxProgram => ({
  language: "python",
  code,
  seconds: 5,
  memory: 256,
  ...more,
});
const deaf = "while True:\n  try:\n    while True: pass\n  except BaseException: pass";

const asking = `
import os
def ask(text):
    os.write(1001, text.encode())
    length = int.from_bytes(os.read(1001, 4), "little")
    return None if length == 0xffffffff else os.read(1001, length).decode()
`;

test("a question from inside a program is answered, and the wait is no time of its own", async () => {
  const asked: string[] = [];
  const { stdout, failure, seconds } = await sandbox.run(
    python(`${asking}print(ask("é1"), ask(""), ask("x" * 3000000)[:3], ask("last"))`, { seconds: 1 }),
    undefined,
    async (question) => {
      asked.push(question.slice(0, 9));
      await later(600);
      return asked.length > 3 ? undefined : `${question}!`;
    },
  );
  assert.equal(failure, undefined);
  assert.equal(stdout, "é1! ! xxx None\n");
  assert.deepEqual(asked, ["é1", "", "xxxxxxxxx", "last"]);
  assert.ok(seconds > 0);
});

test("without somebody who answers, a question comes back with nothing", async () => {
  const { stdout } = await sandbox.run(python(`${asking}print(ask("anybody?"))`));
  assert.equal(stdout, "None\n");
});

test("a question that fails rejects the run, and the next program runs", async () => {
  const run = sandbox.run(python(`${asking}ask("x")`), undefined, () =>
    Promise.reject(new Error("the judge failed")),
  );
  await assert.rejects(run, /the judge failed/);
  assert.equal((await sandbox.run(python("print(1)"))).stdout, "1\n");
});

const childrenOf = (parent: number): number[] =>
  execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid = 0, ppid = 0]) => (ppid === parent ? [pid] : []));
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test("the end of who runs programs, by `kill -9` too, ends their processes in the middle of a loop", async () => {
  // Inside the project, where the interpreters are found.
  const folder = resolve("out", `sandbox-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  after(() => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, "open.mjs");
  await build({
    entryPoints: ["server/lib/sandbox/openSandbox.ts"],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
  });
  const program = JSON.stringify(python(deaf, { seconds: 5 }));
  const ready = JSON.stringify(python("print(1)"));
  const parent = spawn(
    process.execPath,
    [
      "--input-type=module",
      "-e",
      `const { openSandbox } = await import(${JSON.stringify(outfile)});
       const sandbox = openSandbox();
       await sandbox.run(${ready});
       await sandbox.run({ ...${ready}, language: "javascript", code: "console.log(1)" });
       void sandbox.run(${program});
       void sandbox.run({ ...${program}, language: "javascript", code: "for (;;);" });
       console.log("running");`,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  await once(parent.stdout, "data");
  const started = childrenOf(parent.pid ?? 0);
  assert.ok(started.length >= 2, `${started.length} processes`);
  parent.kill("SIGKILL");
  await until(() => !started.some(isAlive), "every process to end");
});

async function begun(): Promise<{ child: ChildProcess; said: string[] }> {
  const bundle = process.env["GRADUS_SANDBOX_PROCESS"] ?? "";
  const child = spawn(process.execPath, [bundle], { stdio: ["pipe", "pipe", "inherit"], env: {} });
  const said: string[] = [];
  const frames = new Frames(1 << 20, (text) => said.push(text));
  child.stdout.on("data", (bytes: Buffer) => frames.push(bytes));
  child.stdin.write(frameOf(await partsOf("python")));
  await until(() => said.length > 0, "it to be ready");
  return { child, said };
}

test("a process ends with its standard input, whatever the kernel does for it: idle, and in a loop that hears nothing", async () => {
  await sandbox.run(python("1"));
  for (const code of ["", deaf]) {
    const { child } = await begun();
    const ended = once(child, "exit");
    if (code !== "") child.stdin?.write(frameOf({ ...python(code, { seconds: 0.2 }), isAnswered: false }));
    child.stdin?.end();
    await ended;
  }
});

test("a process may read its own files only", async () => {
  await Promise.all([
    sandbox.run(python("print(1)")),
    sandbox.run({ ...python("1"), language: "javascript" }),
  ]);
  const own = execFileSync("ps", ["-A", "-ww", "-o", "ppid=,args="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => Number.parseInt(line) === process.pid && line.includes("sandboxProcess.mjs"));
  assert.ok(own.length >= 2);
  for (const line of own) assert.match(line, /--(experimental-)?permission --allow-fs-read=/);
});

test("whoever leaves the interpreter has no file, no process, no thread and no variable", async () => {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "gradus-wall-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const script = join(folder, "left.mjs");
  const tries = {
    read: `(await import("node:fs")).readFileSync("/etc/hosts")`,
    write: `(await import("node:fs")).writeFileSync(${JSON.stringify(join(folder, "planted"))}, "x")`,
    own: `(await import("node:fs")).writeFileSync(${JSON.stringify(script)}, "x")`,
    process: `(await import("node:child_process")).execFileSync("id")`,
    thread: `new (await import("node:worker_threads")).Worker("1", { eval: true })`,
    variables: `{ if (Object.keys(process.env).some((name) => !/^(SystemRoot|ELECTRON_RUN_AS_NODE)$/.test(name))) console.log("variables"); throw 0 }`,
  };
  writeFileSync(
    script,
    Object.entries(tries)
      .map(([name, code]) => `try { ${code}; console.log(${JSON.stringify(name)}) } catch {}`)
      .join("\n") + '\nconsole.log("end")',
  );
  const wall = await wallOf("auto");
  const { file, args, options } = wall.command([process.execPath, "--no-warnings", script], [script]);
  assert.equal(execFileSync(file, args, { ...options, env: {}, encoding: "utf8" }), "end\n");
  assert.ok(!existsSync(join(folder, "planted")));
});

test("what is no message of a process of ours is refused: too long, and no JSON", () => {
  const heard: string[] = [];
  const frames = new Frames(100, (text) => heard.push(text));
  const whole = Buffer.concat([frameOf({ a: 1 }), frameOf("é")]);
  for (const byte of whole) frames.push(Buffer.from([byte]));
  assert.deepEqual(heard, ['{"a":1}', '"é"']);
  assert.throws(() => frames.push(frameOf("x".repeat(100))), RangeError);
});
