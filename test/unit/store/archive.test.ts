/** A run as one file, and back: byte for byte, or refused. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { before, test } from "node:test";
import { relativePath } from "../../../shared/lib/slashes.ts";
import { exportArchive } from "../../../server/store/archive/exportArchive.ts";
import { importArchive } from "../../../server/store/archive/importArchive.ts";
import type { Manifest } from "../../../server/store/archive/manifest.ts";
import { ZipMembers } from "../../../server/store/archive/zipMembers.ts";
import { runFolder } from "../../../server/store/files.ts";
import { loadReaders } from "../../../server/store/imported/readers.ts";
import { importRun } from "../../../server/store/imported/importRun.ts";
import { ZipFile } from "yazl";
import { newFolder, newStore, plain, write } from "./support.ts";
import { end, start } from "../log/sample.ts";

before(loadReaders);

function filled(): {
  folder: string;
  run: string;
  home: string;
  file: string;
  store: ReturnType<typeof newStore>["store"];
} {
  const { folder, store } = newStore();
  const run = "sums-20260102-030405-1f2e";
  write(folder, run, 0, [[[start(0, null, run)], -1], ...plain(0, 5), [[end(4)], 4]]);
  const home = runFolder(folder, run);
  writeFileSync(
    join(home, "run.json"),
    JSON.stringify({
      id: run,
      file: "/x/sums.gradus.yaml",
      name: "sums",
      set: [],
      createdAt: "2026-01-02T03:04:05Z",
    }),
  );
  writeFileSync(
    join(home, "marks.json"),
    '{"tags":["mine"],"note":"so it began","pinned":false,"archived":false}',
  );
  writeFileSync(join(home, "lease"), "own");
  mkdirSync(join(home, "checkpoints", "4"), { recursive: true });
  writeFileSync(join(home, "checkpoints", "4", "model.safetensors"), "weights");
  return { folder, run, home, file: join(folder, "..", "sums.gradusrun"), store };
}
const contents = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [relativePath(folder, file), readFileSync(file, "latin1")]),
  );

test("a run comes back as it was, without its lease, and its checkpoints only where they are wanted", async () => {
  const { run, home, file } = filled();
  const { files } = await exportArchive({ folder: home, run, out: file, checkpoints: false, version: "1" });
  assert.deepEqual(
    files.map(({ path }) => path),
    ["log/0/0.seg", "marks.json", "run.json"],
  );
  const elsewhere = newStore();
  assert.deepEqual((await importArchive(file, elsewhere.folder)).present, false);
  const { lease: _, "checkpoints/4/model.safetensors": weights, ...all } = contents(home);
  assert.deepEqual(contents(runFolder(elsewhere.folder, run)), all);
  elsewhere.store.ingestAll(run);
  assert.deepEqual(
    elsewhere.store.queries.list({ limit: 5 }).runs.map(({ id, status }) => [id, status]),
    [[run, "finished"]],
  );
  await exportArchive({ folder: home, run, out: file, checkpoints: true, version: "1" });
  const whole = newFolder();
  await importArchive(file, whole);
  assert.equal(contents(runFolder(whole, run))["checkpoints/4/model.safetensors"], weights);
});

test("the same run again changes nothing, another of its id is refused", async () => {
  const { folder, run, home, file } = filled();
  await exportArchive({ folder: home, run, out: file, checkpoints: false, version: "1" });
  // Tags of this store stay.
  writeFileSync(join(home, "marks.json"), "{}");
  assert.equal((await importArchive(file, folder)).present, true);
  appendFileSync(join(home, "log", "0", "0.seg"), "x");
  await assert.rejects(
    importArchive(file, folder),
    /The store has another run sums-.* already: log\/0\/0.seg differs/,
  );
});

test("what is damaged is refused with the reason, and leaves nothing", async () => {
  const { run, home, file } = filled();
  await exportArchive({ folder: home, run, out: file, checkpoints: true, version: "1" });
  const bytes = readFileSync(file);
  const elsewhere = newFolder();
  const refused = async (change: (bytes: Buffer) => Buffer, how: RegExp) => {
    const bad = join(elsewhere, "..", "bad.gradusrun");
    writeFileSync(bad, change(Buffer.from(bytes)));
    await assert.rejects(importArchive(bad, elsewhere), how);
    assert.deepEqual(
      readdirSync(join(elsewhere, "..")).includes(".gradus") ? readdirSync(join(elsewhere, "runs")) : [],
      [],
    );
  };
  await refused((all) => all.subarray(0, all.length - 40), /damaged/);
  await refused(() => Buffer.from("no zip at all"), /damaged/);
  // A byte of what is stored as it is.
  await refused((all) => {
    all[all.indexOf("weights")]! ^= 1;
    return all;
  }, /checkpoints\/4\/model.safetensors is not what was exported/);
  await refused(
    (all) => Buffer.from(all.toString("latin1").replaceAll("marks.json", "other.json"), "latin1"),
    /damaged/,
  );
});

/** An exported run, as whoever wants to do harm would write it. */
async function forged(
  change: (manifest: Manifest) => unknown,
  files: Readonly<Record<string, string>> = {},
): Promise<string> {
  const manifest: Manifest = {
    format: "gradus-run",
    version: 1,
    run: "forged",
    gradus: "1",
    checkpoints: false,
    files: Object.entries(files).map(([path, text]) => ({
      path,
      bytes: text.length,
      sha256: createHash("sha256").update(text).digest("hex"),
      mtime: 0,
    })),
  };
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from(JSON.stringify(change(manifest))), "manifest.json");
  for (const [path, text] of Object.entries(files)) zip.addBuffer(Buffer.from(text), path);
  zip.end();
  const file = join(newFolder(), "..", "forged.gradusrun");
  mkdirSync(dirname(file), { recursive: true });
  await pipeline(zip.outputStream, createWriteStream(file));
  return file;
}

test("a forged file is refused in words: its id, a run without a log, another run's, more than the disk has", async () => {
  const store = newFolder();
  const about = (id: string) =>
    JSON.stringify({ id, file: "/x.yaml", name: "x", set: [], createdAt: "2026-01-02T03:04:05Z" });
  const refused = async (file: string, how: RegExp) => {
    await assert.rejects(importArchive(file, store), how);
    assert.deepEqual(existsSync(join(store, "runs")) ? readdirSync(join(store, "runs")) : [], []);
  };
  for (const run of ["../up", "__proto__", "", 7])
    await refused(
      await forged((manifest) => ({ ...manifest, run })),
      /damaged, or is no exported run: its manifest.json is wrong at `run`: [^{[]*$/,
    );
  await refused(
    await forged((manifest) => manifest, { "run.json": about("forged") }),
    /holds no log of a run/,
  );
  await refused(
    await forged((manifest) => manifest, { "run.json": about("other"), "log/0/0.seg": "x" }),
    /its run.json is of another run, other/,
  );
  await refused(
    await forged(
      (manifest) => ({ ...manifest, files: manifest.files.map((one) => ({ ...one, bytes: 2 ** 52 })) }),
      { "log/0/0.seg": "x" },
    ),
    /The run has .* TB, and the store's disk has only .* free/,
  );
});

test("a member that says it is larger than any sample, or is larger than it says, is not unpacked", async () => {
  const file = await forged((manifest) => manifest, { zeros: "0".repeat(300_000) });
  const zip = new ZipMembers(file);
  try {
    const member = zip.members.find(({ name }) => name === "zeros")!;
    assert.equal(zip.read(member).length, 300_000);
    assert.throws(() => zip.read({ ...member, size: 900 * 1024 ** 2 }), /zeros is larger than 128 MB/);
    assert.throws(() => zip.read({ ...member, size: 1_000 }), /larger/);
    assert.throws(() => zip.read({ ...member, packed: 2 ** 40 }), /ends within a member/);
  } finally {
    zip.close();
  }
});

test("rollouts that lie in another trainer's files come along", async () => {
  const { folder } = newStore();
  const out = join(folder, "..", "out");
  cpSync("test/fixtures/imported/verl", out, { recursive: true });
  const { run } = await importRun({
    store: folder,
    folder: out,
    name: undefined,
    copy: false,
    config: undefined,
    version: "0",
    progress: () => undefined,
  });
  const file = join(folder, "..", "verl.gradusrun");
  await exportArchive({ folder: runFolder(folder, run), run, out: file, checkpoints: false, version: "1" });
  rmSync(out, { recursive: true });
  const elsewhere = newStore();
  await importArchive(file, elsewhere.folder);
  elsewhere.store.ingestAll(run);
  assert.equal(elsewhere.store.queries.rollouts({ run, step: 2, tokens: false, limit: 100 }).total, 16);
});

test("a file that cannot be written is said, and nothing is left of it", async () => {
  const { run, home, folder } = filled();
  await assert.rejects(
    exportArchive({
      folder: home,
      run,
      out: join(folder, "nowhere", "a.gradusrun"),
      checkpoints: false,
      version: "1",
    }),
    /cannot be written to one file/,
  );
});
