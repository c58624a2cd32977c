import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";

const folder = mkdtempSync(join(tmpdir(), "gradus-lock-"));
after(() => rmSync(folder, { recursive: true }));
const module = pathToFileURL(join(process.cwd(), "scripts", "setup", "lock.mjs")).href;

/** A process that takes the lock, writes "in", works, writes "out" into one shared journal. */
function contender(lock: string, journal: string, work = 150): Promise<number | null> {
  const code = `
    import { appendFileSync } from "node:fs";
    import { withLock } from ${JSON.stringify(module)};
    await withLock(${JSON.stringify(lock)}, async () => {
      appendFileSync(${JSON.stringify(journal)}, "in\\n");
      await new Promise((done) => setTimeout(done, ${work}));
      appendFileSync(${JSON.stringify(journal)}, "out\\n");
    }, { every: 5 });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return new Promise((done) => child.once("close", done));
}

const lines = (file: string): string[] => readFileSync(file, "utf8").trim().split("\n");

test("of several starters at once each works alone and all end well", async () => {
  const [lock, journal] = [join(folder, "several.lock"), join(folder, "several.txt")];
  const statuses = await Promise.all(Array.from({ length: 4 }, () => contender(lock, journal)));
  assert.deepEqual(statuses, [0, 0, 0, 0]);
  assert.deepEqual(lines(journal), ["in", "out", "in", "out", "in", "out", "in", "out"]);
  assert.equal(existsSync(lock), false);
});

test("several starters that find a dead holder's lock still work one at a time", async () => {
  const [lock, journal] = [join(folder, "dead.lock"), join(folder, "dead.txt")];
  const dead = spawn(process.execPath, ["-e", ""]);
  await new Promise((done) => dead.once("close", done));
  writeFileSync(lock, `${dead.pid} 1`);
  const statuses = await Promise.all(Array.from({ length: 4 }, () => contender(lock, journal, 60)));
  assert.deepEqual(statuses, [0, 0, 0, 0]);
  assert.deepEqual(lines(journal), Array.from({ length: 4 }, () => ["in", "out"]).flat());
});

test("a killed holder does not keep the others out", async () => {
  const [lock, journal] = [join(folder, "killed.lock"), join(folder, "killed.txt")];
  const code = `import { withLock } from ${JSON.stringify(module)};
    await withLock(${JSON.stringify(lock)}, () => { process.stdout.write("held"); return new Promise(() => setInterval(() => undefined, 1000)); });`;
  const holder = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((done) => holder.stdout.once("data", done));
  holder.kill("SIGKILL");
  await new Promise((done) => holder.once("close", done));
  assert.equal(existsSync(lock), true, "a kill -9 leaves the file");
  assert.equal(await contender(lock, journal), 0);
});

interface Holder {
  readonly pid: number | undefined;
  readonly start: string | undefined;
  readonly age: number;
}
interface LockModule {
  isStale(
    holder: Holder,
    alive?: (pid: number) => boolean,
    start?: (pid: number) => string | undefined,
  ): boolean;
  tryLock(file: string): boolean;
  staleAfter: number;
}
const load = async (): Promise<LockModule> => import(module);

test("a lock is stale when its process is gone, is another one, or cannot be known and is old", async () => {
  const { isStale, staleAfter } = await load();
  const holder = { pid: 42, start: "100", age: 0 };
  assert.equal(
    isStale(holder, () => false),
    true,
  );
  assert.equal(
    isStale(
      holder,
      () => true,
      () => "100",
    ),
    false,
  );
  assert.equal(
    isStale(
      holder,
      () => true,
      () => "200",
    ),
    true,
    "the process id was given out again",
  );
  assert.equal(
    isStale(
      { ...holder, age: 2 * staleAfter },
      () => true,
      () => "100",
    ),
    false,
    "at work for long is still at work",
  );
  assert.equal(
    isStale(
      { ...holder, start: "", age: staleAfter + 1 },
      () => true,
      () => undefined,
    ),
    true,
  );
  assert.equal(
    isStale(
      { ...holder, start: "", age: staleAfter - 1 },
      () => true,
      () => undefined,
    ),
    false,
  );
});

test("a file whose writer died before writing is taken over after a while, not at once", async () => {
  const { tryLock } = await load();
  const lock = join(folder, "empty.lock");
  writeFileSync(lock, "");
  assert.equal(tryLock(lock), false);
  assert.equal(existsSync(lock), true);
  utimesSync(lock, new Date(Date.now() - 60_000), new Date(Date.now() - 60_000));
  assert.equal(tryLock(lock), false, "the stale file is removed first");
  assert.equal(tryLock(lock), true);
});
