/** What a reward starts, prints and leaves behind. */
import assert from "node:assert/strict";
import { fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";
import { build } from "esbuild";
import { sweepBundles } from "../../../../server/lib/own/bundleFile.ts";
import { endFamily } from "../../../../server/lib/own/processGroup.ts";
import { withoutPython } from "../../../support/pythonReward.ts";
import { cut } from "../../../../server/lib/own/cut.ts";
import { user } from "../../../../server/methods/reward/own/user.ts";
import type { TermValue } from "../../../../server/core/slots/reward.ts";
import type { RewardContext, RewardTerm } from "../../../../server/core/reward.ts";
import { rewardHost } from "../../../support/rewardHost.ts";
import { until } from "../../../support/until.ts";
import { batchOf, made, temporary } from "../../support.ts";

await rewardHost();

const context = (step = 12): RewardContext => ({
  clock: { step, stageStep: 0 },
  models: { names: [], get: () => assert.fail(), perceptron: () => assert.fail() },
  tokenizer: { size: 0, eos: 0, pad: 0, encode: () => assert.fail(), decode: () => assert.fail() },
});
const rows = (...responses: string[]) =>
  batchOf(
    responses.map((response, index) => ({
      step: 12,
      group: "g",
      index,
      prompt: "p",
      response,
      tokens: [1, 2],
      task: { env: "countdown", id: "t", data: { target: 5 } },
    })),
  );

async function using<T>(
  source: string,
  timeout: number,
  run: (reward: RewardTerm, folder: string) => Promise<T>,
): Promise<T> {
  const folder = temporary();
  writeFileSync(join(folder, "reward.ts"), source);
  const reward = made(user, { file: "./reward.ts", timeout }, { folder, name: "brevity" });
  try {
    return await run(reward, folder);
  } finally {
    await reward.close?.();
  }
}
const messageOf = (value: TermValue | undefined): string => (value?.kind === "error" ? value.message : "");

/** Whether any process has this text in its command line. */
const runs = (text: string): boolean =>
  readdirSync("/proc").some((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "latin1").includes(text);
    } catch {
      return false;
    }
  });

const linux = { skip: process.platform !== "linux" };

describe("children of a reward", linux, () => {
  const kinds: Readonly<Record<string, (seconds: string) => string>> = {
    "in its group": (seconds) => `spawnSync("sleep", ["${seconds}"]);`,
    "of a shell": (seconds) => `spawnSync("sh", ["-c", "sleep ${seconds} & wait"]);`,
    "in a session of their own": (seconds) =>
      `spawn("sleep", ["${seconds}"], { detached: true, stdio: "ignore" }).unref(); for (;;);`,
    "two sessions deep": (seconds) =>
      `spawn("setsid", ["sh", "-c", "setsid sleep ${seconds} & wait"], { detached: true, stdio: "ignore" }); for (;;);`,
    "with an empty environment": (seconds) => `spawnSync("sh", ["-c", "exec env -i sleep ${seconds}"]);`,
  };
  for (const [index, [what, work]] of Object.entries(kinds).entries())
    test(`${what} end with a time-out`, async () => {
      const seconds = `77${index}.${process.pid}`;
      await using(
        `import { spawn, spawnSync } from "node:child_process"; export function score() { ${work(seconds)} return 1; }`,
        0.5,
        async (reward) => {
          const [value] = await reward.score(rows("a"), context());
          assert.match(messageOf(value), /timeout/);
          assert.ok(!runs(seconds), "none lives on");
        },
      );
    });

  test("that live on after an answer end when the reward is closed", async () => {
    const seconds = `791.${process.pid}`;
    await using(
      `import { spawn } from "node:child_process"; export function score() { spawn("sleep", ["${seconds}"], { detached: true, stdio: "ignore" }).unref(); return 1; }`,
      5,
      async (reward) => {
        await reward.score(rows("a"), context());
        assert.ok(runs(seconds));
      },
    );
    assert.ok(!runs(seconds));
  });

  test("end when the process that asks is killed, and no bundle is left", async () => {
    const folder = temporary();
    const seconds = `792.${process.pid}`;
    const asker = join(folder, "asker.mjs");
    const text = `import { spawnSync } from "node:child_process"; export function score() { spawnSync("sleep", ["${seconds}"]); return 1; }`;
    await build({
      stdin: {
        contents: `import { HostProcess } from "./server/methods/reward/own/hostProcess.ts";
          const host = new HostProcess(${JSON.stringify(folder)});
          await host.load(${JSON.stringify(text)}, "score", 60);
          await host.ask({ kind: "score", id: 1, input: { response: "r" } }, 600);`,
        resolveDir: process.cwd(),
        loader: "ts",
      },
      outfile: asker,
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "error",
    });
    const own = mkdtempSync(join(folder, "own-"));
    const child = fork(asker, [], { env: { ...process.env, TMPDIR: own }, stdio: "inherit" });
    try {
      await until(() => runs(seconds), "the reward to start a program");
    } finally {
      child.kill("SIGKILL");
    }
    await until(() => !runs(seconds), "its end");
    assert.deepEqual(readdirSync(own), []);
  });
});

describe("on Windows", { skip: process.platform === "win32" && "plants another system's programs" }, () => {
  /** Its folder, with a program that ends trees, which writes what it is asked. */
  function windows(): { readonly SystemRoot: string; readonly asked: () => string } {
    const SystemRoot = temporary();
    const [program, file] = [join(SystemRoot, "System32", "taskkill.exe"), join(SystemRoot, "asked")];
    mkdirSync(join(SystemRoot, "System32"));
    writeFileSync(program, `#!/bin/sh\necho "$*" >> ${file}\n`);
    chmodSync(program, 0o755);
    return { SystemRoot, asked: () => readFileSync(file, "utf8").trim() };
  }

  for (const has of [true, false])
    test(`a process ends with its tree, ${has ? "" : "alone "}where ${has ? "a" : "no"} program ends trees`, async () => {
      const { SystemRoot, asked } = windows();
      const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e9)"], { stdio: "ignore" });
      const ended = once(child, "exit");
      process.env["SystemRoot"] = has ? SystemRoot : temporary();
      try {
        endFamily(child.pid!, "win32");
        assert.deepEqual(await ended, [null, "SIGKILL"]);
        // Its number may be another's by now.
        endFamily(child.pid!, "win32");
      } finally {
        delete process.env["SystemRoot"];
      }
      if (has) assert.equal(asked(), `/T /F /PID ${child.pid}`);
    });

  test("a Python host ends its own tree", { skip: withoutPython }, () => {
    const { SystemRoot, asked } = windows();
    const folder = resolve("server/methods/reward/own/python");
    const program = `import os, sys; sys.path.insert(0, ${JSON.stringify(folder)}); import rewardHost; os.name = "nt"; print(os.getpid(), flush=True); rewardHost.end()`;
    const { status, stdout } = spawnSync("python3", ["-B", "-c", program], {
      encoding: "utf8",
      env: { ...process.env, SystemRoot },
    });
    assert.deepEqual([status, asked()], [1, `/T /F /PID ${stdout.trim()}`]);
  });
});

describe("a reward that hangs", () => {
  test("is asked three times in a step, and again in the next", async () => {
    await using(
      "export function score({ response }) { if (response === 'hang') for (;;); return 1; }",
      0.3,
      async (reward, folder) => {
        const hanging = await reward.score(rows("hang", "hang", "hang", "a", "hang"), context(12));
        assert.match(messageOf(hanging[0]), /timeout after 0.3 s, twice/);
        assert.match(messageOf(hanging[1]), /timeout after 0.3 s$/);
        for (const value of hanging.slice(2))
          assert.match(
            messageOf(value),
            new RegExp(`${folder}.*reward.ts:score: not called.*3 times in this step`),
          );
        assert.equal(new Set(hanging.slice(2).map(messageOf)).size, 1);
        const [more] = await reward.score(rows("a"), context(12));
        assert.match(messageOf(more), /not called/);
        assert.deepEqual(await reward.score(rows("a"), context(13)), [{ kind: "value", value: 1 }]);
      },
    );
  });
});

describe("what a reward says", () => {
  test("over the channel is no answer to another question", async () => {
    await using(
      `export async function score({ response }) {
        for (const id of [0, 1, 2, 3]) process.send({ kind: "scored", id, value: 999 });
        process.send({ kind: "scored", id: 0, value: { kind: "value", value: 999 } });
        process.send({ kind: "loaded" }); process.send(null); process.send("text");
        await new Promise((resolve) => setTimeout(resolve, 20));
        return response.length;
      }`,
      5,
      async (reward) =>
        assert.deepEqual(await reward.score(rows("a", "ab"), context()), [
          { kind: "value", value: 1 },
          { kind: "value", value: 2 },
        ]),
    );
  });

  test("in an error is cut at 2 kB, and the cut is reported", async () => {
    await using(
      "export function score() { throw new Error('ä'.repeat(10_000_000)); }",
      20,
      async (reward) => {
        const message = messageOf((await reward.score(rows("a"), context()))[0]);
        assert.ok(Buffer.byteLength(message) <= 2048, `${Buffer.byteLength(message)} bytes`);
        assert.match(message, /reward\.ts:score: threw Error: ä+/);
        assert.match(message, /\(cut: the message has [\d,]+ characters\)$/);
      },
    );
    assert.equal(cut("short"), "short");
    assert.equal(cut("x".repeat(2048)), "x".repeat(2048));
    assert.doesNotMatch(cut("𝄞".repeat(3000)), /\uFFFD/);
  });

  test("on stdout is cut at 16 kB a call", async () => {
    const folder = temporary();
    writeFileSync(
      join(folder, "reward.ts"),
      "export function score() { process.stdout.write('x'.repeat(50_000_000)); return 1; }",
    );
    const reward = made(user, { file: "./reward.ts", timeout: 30 }, { folder, name: "loud" });
    let bytes = 0;
    const { write } = process.stderr;
    process.stderr.write = (data: string | Uint8Array) => ((bytes += data.length), true);
    try {
      assert.deepEqual(await reward.score(rows("a"), context()), [{ kind: "value", value: 1 }]);
      await reward.close?.();
    } finally {
      process.stderr.write = write;
    }
    assert.ok(bytes > 1000 && bytes < 40_000, `${bytes} bytes`);
  });
});

test("bundles that killed processes left are removed, those of others that load are not", () => {
  const [old, young] = [
    mkdtempSync(join(tmpdir(), "gradus-bundle-")),
    mkdtempSync(join(tmpdir(), "gradus-bundle-")),
  ];
  const ago = new Date(Date.now() - 120_000);
  utimesSync(old, ago, ago);
  sweepBundles();
  assert.ok(!existsSync(old));
  assert.ok(existsSync(young));
  rmSync(young, { recursive: true });
});
