/** Files that are damaged: the tables repair themselves, the log says what is missing. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import type { MessageConnection } from "vscode-jsonrpc/node";
import { isRunning } from "../../../shared/daemon/process.ts";
import { ask } from "../../../shared/daemon/request.ts";
import { rolloutsQuery, runsList } from "../../../shared/protocol/protocol.ts";
import type { Ended } from "../../support/commandHost.ts";
import { Sandbox, kill, until } from "../daemon.ts";

let box: Sandbox;
beforeEach(async () => {
  box = await Sandbox.make();
});
afterEach(() => box.end());

const finished = async (connection: MessageConnection, run: string): Promise<unknown> =>
  box.reach(connection, run, ({ status }) => status === "finished");

/** As a crash of the machine leaves it: no one has the files open. */
async function endDaemon(): Promise<void> {
  const pid = box.discovery()?.pid ?? 0;
  kill(pid, "SIGTERM");
  await until(async () => (isRunning(pid) ? null : true), "the daemon to end");
}
function removeStore(): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(join(box.store, `store.sqlite${end}`), { force: true });
}
const asides = (): string[] =>
  readdirSync(box.store).filter((name) => /^store\.sqlite\.damaged-\d{8}-\d{6}(-\d+)?$/.test(name));

const gradus = (...words: string[]): Promise<Ended> => box.finish(...words);

for (const [where, damage] of [
  ["in its header", (bytes: Buffer) => bytes.fill(0x55, 0, 200)],
  ["in all pages but the first", (bytes: Buffer) => bytes.fill(0xff, 4096)],
  ["in its last pages", (bytes: Buffer) => bytes.fill(0xff, bytes.length - (bytes.length >> 1))],
] as const)
  test(`a store.sqlite that is damaged ${where} is kept under another name and built again`, async () => {
    const run = await box.start(await box.connect(), 40, 1);
    await finished(await box.connect(), run);
    const total = (await ask(await box.connect(), rolloutsQuery, { run, limit: 1 })).total;
    await endDaemon();
    const path = join(box.store, "store.sqlite");
    const bytes = readFileSync(path);
    writeFileSync(path, damage(bytes));
    const connection = await box.connect();
    const answer = await until(async () => {
      try {
        await ask(connection, runsList, {});
        const found = await ask(connection, rolloutsQuery, { run, limit: 1 });
        return found.total === total && asides().length > 0 ? found : null;
      } catch (error) {
        assert.match(String(error), /kept as .*damaged-|There is no run/);
        return null;
      }
    }, "the tables to be there again");
    assert.equal(answer.total, total);
    await finished(connection, run);
    assert.equal(asides().length, 1);
    assert.match(box.log(), /store\.sqlite was damaged \(.*\)\. It is kept as .*damaged-/);
  });

test("a damaged log is what an interrupted run reports: the file, the byte, what is missing, what to do", async () => {
  const run = await box.start(await box.connect(), 40, 1);
  await finished(await box.connect(), run);
  await endDaemon();
  const segment = join(box.folder(run), "log", "0", "0.seg");
  const bytes = readFileSync(segment);
  const at = Math.floor(bytes.length * 0.4);
  bytes[at] = bytes[at]! ^ 0xff;
  writeFileSync(segment, bytes);
  removeStore();
  const connection = await box.connect();
  const detail = await box.reach(connection, run, ({ status }) => status === "interrupted");
  assert.ok(detail.message?.startsWith(segment), detail.message ?? "");
  assert.match(
    detail.message ?? "",
    /damaged at byte \d+.*What attempt 0 logged after step \d+ is missing: \d+ bytes.*If you have a complete copy of the file, restore it/,
  );
  assert.doesNotMatch(detail.message ?? "", /memory|micro_tokens/);
  assert.ok((await gradus("runs", "show", run)).stdout.includes(detail.message ?? "?"));
  const { stdout: out, stderr: err } = await gradus("rollouts", run);
  assert.ok(out.length > 0);
  assert.match(err, /warning: .*What attempt 0 logged after step \d+ is missing/);
});

test("while a store is read again, a run that has finished never says that it is live", async () => {
  const run = await box.start(await box.connect(), 200, 0);
  await finished(await box.connect(), run);
  await endDaemon();
  removeStore();
  const connection = await box.connect();
  const seen = new Set<string>();
  await until(async () => {
    const { runs } = await ask(connection, runsList, {});
    for (const { status } of runs) seen.add(status);
    return runs.some(({ status }) => status === "finished") ? true : null;
  }, "the run to be read");
  for (const status of seen) assert.ok(status === "reading" || status === "finished", status);
});
