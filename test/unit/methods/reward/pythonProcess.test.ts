/** The process of a Python reward: what hangs, dies, forks, prints or trains, and whom it outlives. */
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { build } from "esbuild";
import {
  inShort,
  pythonTerm,
  responses,
  scoring,
  told,
  using,
  withoutPython,
} from "../../../support/pythonReward.ts";
import { until } from "../../../support/until.ts";
import { count } from "../../../support/thorough.ts";
import { temporary } from "../../support.ts";

const skip = withoutPython;
const starts = (folder: string): number => readFileSync(join(folder, "starts"), "utf8").length;
const counted = 'open("starts", "a").write("x")\n';
/** Whether a program with this argument runs. */
const runs = (argument: string): boolean =>
  readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").includes(argument);
    } catch {
      return false; // ended meanwhile
    }
  });

describe("a Python reward that hangs", { skip }, () => {
  test("is placed on its rollout, tried once more, and costs the others nothing", async () => {
    const text = `${counted}import re
def compute_score(response, task):
    if response == "hang":
        re.match(r"(a+)+$", "a" * 60 + "b")
    return len(response)
`;
    await using(pythonTerm(text, { timeout: 0.5 }), async (term) => {
      const values = await term.score(responses(["a", "hang", "abc"]), scoring());
      assert.deepEqual(values.map(inShort), [1, "timeout after 0.5 s, twice", 3]);
      assert.equal(starts(term.folder), 3);
    });
  });

  test("is asked three times in a step, and again in the next", async () => {
    const text = `def compute_score(response, task):
    while response == "hang": pass
    return 1
`;
    await using(pythonTerm(text, { timeout: 0.2 }), async (term) => {
      const all = await term.score(responses(["hang", "hang", "a", "hang"]), scoring(12));
      const said = all.map(inShort);
      assert.deepEqual(said.slice(0, 2), ["timeout after 0.2 s, twice", "timeout after 0.2 s"]);
      assert.match(
        String(said[2]),
        /^not called, because it gave no answer within 0.2 s 3 times in this step/,
      );
      assert.equal(said[3], said[2]);
      assert.deepEqual((await term.score(responses(["a"]), scoring(13))).map(inShort), [1]);
    });
  });

  test("in a call for a whole batch is found by a call for each", async () => {
    const text = `import time
def reward(completions, **kwargs):
    while "hang" in completions: time.sleep(1)
    return [len(c) for c in completions]
`;
    await using(pythonTerm(text, { timeout: 0.2, export: "reward" }), async (term) => {
      const values = await term.score(responses(["a", "hang", "abc"]), scoring());
      assert.deepEqual(values.map(inShort), [1, "timeout after 0.2 s, twice", 3]);
    });
  });

  test("asynchronously holds nobody up, and many are called at a time", async () => {
    const text = `import asyncio
at_once = most = 0
async def compute_score(response, task):
    global at_once, most
    at_once += 1
    most = max(most, at_once)
    await asyncio.sleep(60 if response == "hang" else 0.01)
    at_once -= 1
    return most
`;
    assert.deepEqual(await told(text, ["a", "hang", "b"], { timeout: 0.5 }), [3, "timeout after 0.5 s", 3]);
  });
});

describe("a Python reward that takes its process down, or makes others", { skip }, () => {
  test("is an error of that rollout; after several the rest are not called", async () => {
    const text = `${counted}import os
def compute_score(response, task):
    if response == "exit": os._exit(7)
    return 1
`;
    await using(pythonTerm(text), async (term) => {
      const values = await term.score(responses(["a", "exit", "b"]), scoring());
      assert.deepEqual(values.map(inShort), [1, "the process ended with exit code 7, twice", 1]);
      assert.equal(starts(term.folder), 3);
      const many = (await term.score(responses(Array(9).fill("exit")), scoring())).map(inShort);
      assert.equal(many[2], "the process ended with exit code 7, twice");
      assert.equal(many[3], "not called, because calls of this batch ended the process 6 times");
    });
  });

  test("may fork, use processes and alarms: a copy that comes back gives no second answer", async () => {
    const text = `import multiprocessing, os, signal, threading
def half(n): return n / 2
def double(queue, n): queue.put(2 * n)
def compute_score(response, task):
    if response == "fork":
        return 1 if os.fork() == 0 else 5
    if response == "pool":
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=double, args=(queue, 4))
        child.start(); child.join()
        return queue.get()
    if response == "spawn":
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            return pool.apply(half, (4,))
    assert threading.current_thread() is threading.main_thread()
    def stop(*_): raise TimeoutError("alarm")
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    while True: pass
`;
    assert.deepEqual(await told(text, ["fork", "pool", "spawn", "alarm"]), [
      5,
      8,
      2,
      "threw TimeoutError: alarm (reward.py:17)",
    ]);
  });

  const megabytes = count(100, 1000);
  test(`prints ${megabytes} megabytes, and the run goes on`, async () => {
    const text = `import sys
def compute_score(response, task):
    for _ in range(${megabytes}): sys.stdout.write("x" * 1_000_000)
    return 1
`;
    const written: number[] = [];
    const write = process.stderr.write.bind(process.stderr);
    process.stderr.write = (data: string | Uint8Array): boolean => (written.push(data.length), true);
    try {
      assert.deepEqual(await told(text, ["a"]), [1]);
    } finally {
      process.stderr.write = write;
    }
    assert.ok(written.reduce((sum, one) => sum + one, 0) < 20_000);
  });

  test(
    "ends with what it started, also in sessions of their own",
    { skip: !existsSync("/proc/self/environ") },
    async () => {
      const seconds = `791.${process.pid}`;
      const text = `import subprocess
def compute_score(response, task):
    subprocess.Popen(["sleep", "${seconds}"], start_new_session=True)
    return 1
`;
      await using(pythonTerm(text), async (term) => {
        await term.score(responses(["a"]), scoring());
        await until(() => runs(seconds), "the program that it starts");
      });
      assert.ok(!runs(seconds));
    },
  );

  test(
    "ends with the process that asks, in the middle of a call",
    { skip: !existsSync("/proc/self/environ") },
    async () => {
      const folder = temporary();
      const seconds = `793.${process.pid}`;
      const file = join(folder, "reward.py");
      writeFileSync(
        file,
        `import re, subprocess
def compute_score(response, task):
    subprocess.Popen(["sleep", "${seconds}"], start_new_session=True)
    re.match(r"(a+)+$", "a" * 60 + "b")
`,
      );
      const asker = join(folder, "asker.mjs");
      await build({
        stdin: {
          contents: `import { PythonProcess } from "./server/methods/reward/own/python/pythonProcess.ts";
          const host = new PythonProcess("python3", ${JSON.stringify(folder)});
          await host.load(${JSON.stringify(file)}, ${JSON.stringify(readFileSync(file, "utf8"))}, "compute_score", 60);
          await host.score({ kind: "rows", id: 1, rows: [{ response: "", task: {} }], first: false, together: 1, seconds: 600 }, 600, () => {});`,
          resolveDir: process.cwd(),
          loader: "ts",
        },
        outfile: asker,
        bundle: true,
        platform: "node",
        format: "esm",
        logLevel: "error",
      });
      const child = fork(asker, [], { stdio: "inherit" });
      try {
        await until(() => runs(seconds), "the reward to start a program");
      } finally {
        child.kill("SIGKILL");
      }
      await until(() => !runs(seconds), "its end");
    },
  );
});

describe("a Python reward that is aborted", { skip }, () => {
  test("lets its caller go at once, and keeps its process only where that is nearly through", async () => {
    const text = `${counted}import time
def compute_score(response, task):
    time.sleep(float(response))
    return 1
`;
    await using(pythonTerm(text), async (term) => {
      const abort = async (response: string): Promise<void> => {
        const controller = new AbortController();
        const scored = term.score(responses([response]), { ...scoring(), signal: controller.signal });
        await until(() => existsSync(join(term.folder, "starts")), "the load");
        controller.abort();
        await assert.rejects(scored, /aborted/);
      };
      await term.prepare?.();
      await abort("0.02");
      assert.deepEqual((await term.score(responses(["0"]), scoring())).map(inShort), [1]);
      assert.equal(starts(term.folder), 1);
      await abort("100");
      assert.deepEqual((await term.score(responses(["0"]), scoring())).map(inShort), [1]);
      assert.equal(starts(term.folder), 2);
    });
  });
});

describe("a Python reward's file", { skip }, () => {
  test("is read again after a close, with what it imports; its hash is recorded", async () => {
    const folder = temporary();
    writeFileSync(join(folder, "helper.py"), "value = 1\n");
    const text = "import helper\ndef compute_score(response, task):\n    return helper.value\n";
    await using(pythonTerm(text, {}, folder), async (term) => {
      const { bundle: first } = (await term.prepare?.()) ?? {};
      assert.deepEqual((await term.score(responses(["a"]), scoring())).map(inShort), [1]);
      await term.close?.();
      writeFileSync(join(folder, "helper.py"), "value = 22\n");
      writeFileSync(term.file, text.replace("helper.value", "helper.value + 1"));
      const { bundle: second } = (await term.prepare?.()) ?? {};
      assert.deepEqual((await term.score(responses(["a"]), scoring())).map(inShort), [23]);
      assert.match(String(first), /^[0-9a-f]{64}$/);
      assert.notEqual(first, second);
      assert.ok(!existsSync(join(folder, "__pycache__")));
    });
  });

  test("that trains is loaded without its training: what the function reads, and nothing else", async () => {
    const text = `from __future__ import annotations
import os, re
import torch_that_is_absent as torch
from trl_that_is_absent import GRPOTrainer
os.environ["SCALE"] = "3"
print("prints when it is run")
ANSWER = re.compile(r"(\\d+)$")
UNREAD = open("/absent/file").read()
TABLE = {}
TABLE["7"] = 0.5
class Shape(torch.Module):
    pass
def found(text):
    match = ANSWER.search(text)
    return match and match.group(1)
def reward(completions, **kwargs):
    return [TABLE.get(found(c), 0.0) * int(os.environ["SCALE"]) for c in completions]
def main():
    trainer = GRPOTrainer(model="m", reward_funcs=[reward])
    trainer.train()
main()
`;
    assert.deepEqual(await told(text, ["it is 7", "8"], { export: "reward" }), [1.5, 0]);
    // Where a package is absent, the same holds of a script with a guard.
    const guarded = text.replace("\nmain()\n", '\nif __name__ == "__main__":\n    main()\n');
    assert.deepEqual(await told(guarded, ["it is 7"], { export: "reward" }), [1.5]);
    const needed = text.replace("[TABLE.get", "[torch.one * TABLE.get");
    await using(pythonTerm(needed, { export: "reward" }), (term) =>
      assert.rejects(
        async () => term.prepare?.(),
        (error: Error & { detail?: { line?: number; action?: string } }) => {
          assert.match(
            error.message,
            /loading it threw ModuleNotFoundError: .*torch_that_is_absent' \(reward\.py:3\)/,
          );
          assert.equal(error.detail?.line, 2);
          assert.match(
            error.detail?.action ?? "",
            /^Install `torch_that_is_absent` for \/.* \(from .*\), or name another Python/,
          );
          return true;
        },
      ),
    );
  });

  test("may have the name of a package that it imports, and import from its own package", async () => {
    const folder = temporary();
    mkdirSync(join(folder, "scores"));
    writeFileSync(join(folder, "scores/__init__.py"), "raise SystemError('heavy')\n");
    writeFileSync(join(folder, "scores/base.py"), "one = 1\n");
    writeFileSync(
      join(folder, "scores/json.py"),
      "import json\ndef compute_score(response, task):\n    return json.loads(response)\n",
    );
    writeFileSync(
      join(folder, "scores/batch.py"),
      "from .base import one\ndef compute_score(response, task):\n    return one\n",
    );
    for (const [name, value] of [
      ["json", 4],
      ["batch", 1],
    ] as const)
      await using(pythonTerm("", { file: `./scores/${name}.py` }, folder), async (term) =>
        assert.deepEqual((await term.score(responses(["4"]), scoring())).map(inShort), [value]),
      );
  });

  test("that does not load, or has no such function, says why; a Python that is none is named", async () => {
    for (const [text, params, says] of [
      ["def compute_score(:\n", {}, /does not parse: .* \(reward\.py:1\)/],
      ["def other(response): return 1\n", {}, /it has no function `compute_score` \(it has other\)/],
      ["compute_score = 3\n", {}, /its `compute_score` is int 3, not a function/],
      ["def compute_score(response, bonus): return 1\n", {}, /takes `bonus`, which nothing provides/],
      ["", { python: "./venv" }, /there is no Python at `\.\/venv`/],
      ["", { python: "/bin/false" }, /\/bin\/false \(from `python` of the term\) does not start/],
    ] as const)
      await using(pythonTerm(text, params), (term) => assert.rejects(async () => term.prepare?.(), says));
  });
});
