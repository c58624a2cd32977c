/** A folder that another program writes, mirrored through a real shell. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { UserError } from "../../../shared/lib/errors.ts";
import { here } from "../../../server/sites/here.ts";
import { Mirror } from "../../../server/sites/mirror.ts";
import { until } from "../../support/until.ts";
import { Breaking, pair } from "./mirrorPair.ts";
import { pullProgram } from "./pullProgram.ts";

describe("a mirror", () => {
  it("brings what an import reads, and no weights", async () => {
    const { there, file, copy, same, again } = pair();
    mkdirSync(file("checkpoint-10"), { recursive: true });
    mkdirSync(file(".git"));
    mkdirSync(file("rollouts/step_1/train/effective"), { recursive: true });
    mkdirSync(file("rollouts/step_1/train/all"), { recursive: true });
    const read = [
      "metrics.jsonl",
      "1.jsonl",
      "run.sh",
      "checkpoint-10/trainer_state.json",
      "events.out.tfevents.1.box",
      "rollouts/step_1/train/effective/traces.jsonl",
      "log-1.txt",
      "empty.log",
      "empty.yaml",
    ];
    const others = [
      "checkpoint-10/model.safetensors",
      ".git/x.jsonl",
      "rollouts/step_1/train/all/traces.jsonl",
      "a.txt",
    ];
    for (const path of [...read, ...others])
      writeFileSync(file(path), path.includes("empty") ? "" : `${path}\n`.repeat(50));
    const mirror = again();
    assert.equal(mirror.local, copy("").replace(/\/$/, ""));
    const pulled = await mirror.pull();
    assert.deepEqual(pulled.leftOut, []);
    for (const path of read) same(path);
    for (const path of others) assert.equal(existsSync(copy(path)), false, path);
    assert.equal(there.endsWith("out"), true);
    // A feed tells by its time whether a file is at rest.
    assert.equal(statSync(copy("1.jsonl")).mtimeMs.toFixed(1), statSync(file("1.jsonl")).mtimeMs.toFixed(1));
    assert.equal((await mirror.pull()).bytes, 0);
  });

  it("brings of a file that grows only what is new, and compares its end", async () => {
    const shell = new Breaking();
    const { file, copy, same, again } = pair(shell);
    writeFileSync(file("rollouts-a-1-1.jsonl"), "x".repeat(1_000_000));
    const mirror = again();
    await mirror.pull();
    const { ino } = statSync(copy("rollouts-a-1-1.jsonl"));
    shell.bytes = 0;
    appendFileSync(file("rollouts-a-1-1.jsonl"), "y".repeat(100));
    const { bytes, rewritten } = await mirror.pull();
    same("rollouts-a-1-1.jsonl");
    assert.equal(statSync(copy("rollouts-a-1-1.jsonl")).ino, ino);
    assert.deepEqual(rewritten, []);
    assert.ok(bytes <= 4096 + 100 && shell.bytes < 5_000, `${shell.bytes} bytes were sent`);
  });

  it("lists only what has changed, and from time to time all", async () => {
    const shell = new Breaking();
    const { base, there, file, same, again } = pair(shell);
    for (let step = 1; step <= 1_000; step++) writeFileSync(file(`${step}.jsonl`), "{}\n");
    const bytes = async (mirror: Mirror): Promise<number> => {
      shell.bytes = 0;
      await mirror.pull();
      return shell.bytes;
    };
    const mirror = again();
    assert.ok((await bytes(mirror)) > 40_000);
    // What was written within the same seconds as the last change is named again.
    await until(async () => {
      appendFileSync(file("active.log"), ".");
      return (await bytes(mirror)) < 1_000;
    }, "the others to be old");
    appendFileSync(file("7.jsonl"), "more\n");
    writeFileSync(file("1001.jsonl"), "{}\n");
    renameSync(file("8.jsonl"), file("1002.jsonl"));
    assert.ok((await bytes(mirror)) < 1_000);
    for (const name of ["7.jsonl", "1001.jsonl", "1002.jsonl"]) same(name);
    const all = new Mirror(shell, there, join(base, "all"), 0);
    assert.ok((await bytes(all)) > 40_000 && (await bytes(all)) > 40_000);
  });

  it("brings a file whole that was cut, replaced or written again, and says which", async () => {
    const { file, same, again } = pair();
    const path = "rollouts-a-1-1.jsonl";
    writeFileSync(file(path), "first\n".repeat(100));
    const mirror = again();
    await mirror.pull();
    truncateSync(file(path), 60);
    assert.deepEqual((await mirror.pull()).rewritten, [path]);
    same(path);
    writeFileSync(file("new"), "first\n".repeat(10) + "another\n".repeat(10));
    renameSync(file("new"), file(path));
    assert.deepEqual((await mirror.pull()).rewritten, [path]);
    same(path);
    // The same inode and a greater size.
    writeFileSync(file(path), "again\n".repeat(1_000));
    assert.deepEqual((await mirror.pull()).rewritten, [path]);
    same(path);
    // The same size.
    writeFileSync(file(path), "other\n".repeat(1_000));
    assert.deepEqual((await mirror.pull()).rewritten, [path]);
    same(path);
    // Touched only.
    utimesSync(file(path), 1_790_000_000, 1_790_000_000);
    assert.deepEqual((await mirror.pull()).rewritten, []);
    same(path);
  });

  it("leaves alone what changes while it is brought: the next pull has it", async () => {
    const shell = new Breaking();
    const { file, copy, same, again } = pair(shell);
    writeFileSync(file("1.jsonl"), "one\n".repeat(100));
    writeFileSync(file("rollouts-a-1-1.jsonl"), "two\n".repeat(100));
    writeFileSync(file("metrics.jsonl"), "three\n".repeat(100));
    const mirror = again();
    shell.before = (asked) => {
      if (asked !== 2) return;
      appendFileSync(file("1.jsonl"), "more\n");
      truncateSync(file("rollouts-a-1-1.jsonl"), 10);
    };
    await mirror.pull();
    assert.equal(existsSync(copy("1.jsonl")), false);
    assert.equal(existsSync(copy("rollouts-a-1-1.jsonl")), false);
    same("metrics.jsonl");
    await mirror.pull();
    same("1.jsonl");
    same("rollouts-a-1-1.jsonl");
    // A new file of the same name.
    const path = "rollouts-a-2-2.jsonl";
    writeFileSync(file(path), "two\n".repeat(100));
    shell.asked = 0;
    shell.before = (asked) => {
      if (asked !== 2) return;
      renameSync(file(path), file("old"));
      writeFileSync(file(path), "another\n".repeat(100));
    };
    await mirror.pull();
    assert.equal(existsSync(copy(path)), false);
    shell.before = (asked) => asked === shell.asked && rmSync(file("1.jsonl"), { force: true });
    appendFileSync(file("1.jsonl"), "more\n");
    await mirror.pull();
    assert.ok(existsSync(copy("1.jsonl")), "what was brought stays");
  });

  it("takes names with spaces, quotes, dollars and line breaks", async () => {
    const { file, same, again } = pair(here(), 'o\'ut $HOME\n"x"');
    const names = [
      "a b.jsonl",
      "it's.jsonl",
      '"q".jsonl',
      "$(touch x).jsonl",
      "line\nbreak.jsonl",
      "-n.jsonl",
      "~.jsonl",
      "ü.jsonl",
      "\\n.jsonl",
    ];
    for (const name of names) writeFileSync(file(name), `${name}\n`);
    await again().pull();
    for (const name of names) same(name);
    for (const name of names) appendFileSync(file(name), "more\n");
    await again().pull();
    for (const name of names) same(name);
  });

  it("brings what lies next to a folder of rollouts", async () => {
    const { base, there, file } = pair(here(), "rollouts");
    writeFileSync(file("1.jsonl"), "{}\n");
    writeFileSync(join(there, "..", "metrics.jsonl"), "{}\n");
    await new Mirror(here(), there, join(base, "m")).pull();
    assert.deepEqual(readdirSync(join(base, "m")).sort(), [".mirror", "metrics.jsonl", "rollouts"]);
  });

  it("brings some at a time where that is asked, scripts first and metrics last", async () => {
    const { file, copy, same, again } = pair();
    const names = ["run.sh", "a.jsonl", "metrics.jsonl"];
    for (const name of names) writeFileSync(file(name), Buffer.alloc(900_000, `${name}\n`));
    // A listing of what changed after this would not name them.
    const written = statSync(file("metrics.jsonl")).ctimeMs;
    await until(() => {
      writeFileSync(file("late.sh"), "");
      return statSync(file("late.sh")).ctimeMs > written + 3_500;
    }, "the file system's clock");
    const mirror = again();
    const seen: string[] = [];
    for (let more = true; more;) {
      ({ more } = await mirror.pull({ most: 1 }));
      seen.push(names.filter((name) => existsSync(copy(name))).join(" "));
    }
    assert.equal(seen.length > 1 && seen[0], "run.sh a.jsonl");
    for (const name of names) same(name);
  });

  it("never has more metrics than rollouts", async () => {
    const shell = new Breaking();
    const { file, copy, again } = pair(shell);
    const step = (n: number): void => {
      appendFileSync(file("rollouts-a-1-1.jsonl"), `${n}\n`);
      appendFileSync(file("metrics-a-1.jsonl"), `${n}\n`);
    };
    step(1);
    const mirror = again();
    let n = 1;
    shell.before = () => step(++n);
    const lines = (path: string): number =>
      existsSync(copy(path)) ? readFileSync(copy(path), "utf8").split("\n").length : 0;
    for (let pull = 0; pull < 5; pull++) {
      await mirror.pull();
      assert.ok(lines("rollouts-a-1-1.jsonl") >= lines("metrics-a-1.jsonl"));
    }
    assert.ok(lines("metrics-a-1.jsonl") > 3);
    // Also where a step is made between the listings.
    shell.before = () => undefined;
    shell.prelude = `find() { command find "$@"; [ "$1" != . ] || { echo >> rollouts-a-1-1.jsonl; echo >> metrics-a-1.jsonl; }; }`;
    await mirror.pull();
    assert.equal(lines("rollouts-a-1-1.jsonl"), lines("metrics-a-1.jsonl") + 1);
  });

  it("is the file, byte for byte, after 10,000 steps with broken connections and new processes", async () => {
    const shell = new Breaking();
    const { file, copy, same, again } = pair(shell);
    const path = "rollouts-box-1-1.jsonl";
    const line = (step: number): string =>
      `${JSON.stringify({ step, text: "ü".repeat(step % 97), time: step })}\n`;
    let mirror = again();
    let [step, breaks] = [0, 0];
    while (step < 10_000) {
      const until = Math.min(10_000, step + 1 + ((step * 7919) % 400));
      let text = "";
      while (step < until) text += line(step++);
      // A writer flushes where it likes, also within a letter.
      const bytes = Buffer.from(text);
      appendFileSync(file(path), bytes.subarray(0, bytes.length - 3));
      shell.breaksAt = step % 3 === 0 ? shell.asked + 1 + (step % 2) : Number.POSITIVE_INFINITY;
      await mirror.pull().catch((error: unknown) => {
        assert.ok(error instanceof UserError && error.detail.code === "site-unreachable");
        breaks++;
        if (breaks % 2 === 0) mirror = again();
      });
      appendFileSync(file(path), bytes.subarray(bytes.length - 3));
    }
    shell.breaksAt = Number.POSITIVE_INFINITY;
    await mirror.pull();
    assert.ok(breaks > 5, `${breaks} breaks`);
    same(path);
    assert.equal(readFileSync(copy(path), "utf8").split("\n").length, 10_001);
  });

  it("goes on where it was after its process was killed at any moment", async () => {
    const { base, there, root, file, same } = pair();
    const [grows, whole] = ["rollouts-a-1-1.jsonl", "7.jsonl"];
    writeFileSync(file(grows), Buffer.alloc(9_000_000, "abcdefg\n"));
    writeFileSync(file(whole), Buffer.alloc(9_000_000, "hijklmnop\n"));
    const program = join(base, "pull.mjs");
    await pullProgram(program);
    let kills = 0;
    for (let delay = 40; ; delay += 25) {
      const child = spawn(process.execPath, [program, there, root], { stdio: ["ignore", "pipe", "inherit"] });
      await once(child.stdout, "data");
      const timer = setTimeout(() => child.kill("SIGKILL"), delay);
      const [code] = await once(child, "exit");
      clearTimeout(timer);
      if (code === 0) break;
      kills++;
      appendFileSync(file(grows), `after kill ${kills}\n`);
      assert.ok(kills < 100, "it never gets to its end");
    }
    await new Mirror(here(), there, root).pull();
    same(grows);
    same(whole);
    assert.ok(kills > 1, `${kills} kills`);
    assert.deepEqual(readdirSync(join(root, ".mirror")), ["known.json"]);
  });
});
