/** A run out of one file: it appears in the store complete and as it was, or not at all. */
import { createHash } from "node:crypto";
import { createWriteStream, existsSync, mkdirSync, rmSync, statSync, statfsSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { Transform, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { open, type Entry, type ZipFile } from "yauzl";
import type { z } from "zod";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { formatBytes } from "../../../shared/lib/format.ts";
import { parseShallow } from "../../../shared/lib/json.ts";
import { attemptsOf } from "../../../shared/log/reader.ts";
import { readRunFile, runsFolder } from "../files.ts";
import { draftFolder } from "../imported/runDraft.ts";
import { hashOf, manifestName, manifestSchema, type Manifest } from "./manifest.ts";
import { putInPlace } from "../../../shared/lib/putInPlace.mjs";
import { pathHere } from "../../../shared/lib/fileName.ts";

export interface ImportedArchive {
  readonly run: string;
  readonly files: number;
  readonly bytes: number;
  /** The store had the same run already: nothing was changed. */
  readonly present: boolean;
}

/** Of a manifest: one with a million files is none of ours. */
const mostManifest = 64 * 1024 * 1024;

/** @throws UserError where the file is damaged, is none, or the store has another run of the same id */
export async function importArchive(file: string, store: string): Promise<ImportedArchive> {
  const zip = await opened(file);
  let draft: string | undefined;
  try {
    const entries = await entriesOf(zip);
    const manifest = await manifestOf(zip, entries, file);
    const home = join(runsFolder(store), manifest.run);
    const bytes = manifest.files.reduce((sum, one) => sum + one.bytes, 0);
    const result = { run: manifest.run, files: manifest.files.length, bytes };
    if (existsSync(home)) {
      await mustBeSame(home, manifest);
      return { ...result, present: true };
    }
    draft = draftFolder(store, manifest.run);
    mustHaveRoom(file, draft, bytes);
    await unpack(zip, entries, manifest, draft);
    if (attemptsOf(draft).length === 0) throw damaged(file, "it holds no log of a run");
    const named = readRunFile(draft)?.id ?? manifest.run;
    if (named !== manifest.run) throw damaged(file, `its run.json is of another run, ${named}`);
    putInPlace(draft, home);
    return { ...result, present: false };
  } catch (error) {
    if (draft !== undefined) rmSync(draft, { recursive: true, force: true });
    throw error instanceof UserError ? error : damaged(file, messageOf(error), error);
  } finally {
    zip.close();
  }
}

const damaged = (file: string, how: string, cause?: unknown): UserError =>
  new UserError(`The file is damaged, or is no exported run: ${how}.`, {
    file,
    code: "archive-damaged",
    ...(cause === undefined ? {} : { cause }),
    action:
      "Copy it again from where it was exported, or export the run again: gradus runs export RUN --out FILE.gradusrun.",
  });

function opened(file: string): Promise<ZipFile> {
  return new Promise((done, failed) =>
    open(file, { lazyEntries: true, autoClose: false }, (error, zip) =>
      error === null ? done(zip) : failed(damaged(file, messageOf(error), error)),
    ),
  );
}

/** By name. The reader itself refuses names that lead out of the folder. */
function entriesOf(zip: ZipFile): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  return new Promise((done, failed) => {
    zip.on("entry", (entry: Entry) => {
      if (entries.has(entry.fileName)) return failed(new Error(`it has ${entry.fileName} twice`));
      entries.set(entry.fileName, entry);
      zip.readEntry();
    });
    zip.on("end", () => done(entries));
    zip.on("error", failed);
    zip.readEntry();
  });
}

function streamOf(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((done, failed) =>
    zip.openReadStream(entry, (error, stream) => (error === null ? done(stream) : failed(error))),
  );
}

async function manifestOf(
  zip: ZipFile,
  entries: ReadonlyMap<string, Entry>,
  file: string,
): Promise<Manifest> {
  const entry = entries.get(manifestName);
  if (entry === undefined || entry.uncompressedSize > mostManifest)
    throw damaged(file, `it has no ${manifestName}`);
  const pieces: Buffer[] = [];
  for await (const piece of await streamOf(zip, entry)) pieces.push(Buffer.from(piece));
  const value = parseShallow(Buffer.concat(pieces).toString("utf8"));
  if (typeof value === "object" && value !== null && "version" in value && Number(value.version) > 1)
    throw new UserError("A later version of Gradus exported this run.", {
      file,
      code: "archive-too-new",
      action: "Update Gradus, then import it.",
    });
  const { data: manifest, error } = manifestSchema.safeParse(value);
  if (manifest === undefined) throw damaged(file, manifestFault(error), error);
  const expected = new Set(manifest.files.map(({ path }) => path));
  const missing = manifest.files.find(({ path }) => !entries.has(path));
  const extra = [...entries.keys()].find((name) => name !== manifestName && !expected.has(name));
  if (missing !== undefined) throw damaged(file, `${missing.path} is missing`);
  if (extra !== undefined) throw damaged(file, `its list of files does not have ${extra}`);
  return manifest;
}

/** The first of what is wrong with it, in words. */
function manifestFault({ issues: [issue] }: z.ZodError): string {
  const place = issue?.path.join(".") ?? "";
  return `its ${manifestName} is wrong${place === "" ? "" : ` at \`${place}\``}: ${issue?.message ?? ""}`;
}

/** @throws UserError where the disk of the store has no room for what the file says it holds */
function mustHaveRoom(file: string, place: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(place);
  if (bytes <= bavail * bsize) return;
  throw new UserError(
    `The run has ${formatBytes(bytes)}, and the store's disk has only ${formatBytes(bavail * bsize)} free.`,
    { file, code: "disk-full", action: "Free space there, or import into another store: --store FOLDER." },
  );
}

async function unpack(
  zip: ZipFile,
  entries: ReadonlyMap<string, Entry>,
  { files }: Manifest,
  draft: string,
): Promise<void> {
  for (const { path, sha256, bytes, mtime } of files) {
    const target = join(draft, pathHere(path));
    mkdirSync(dirname(target), { recursive: true });
    const hash = createHash("sha256");
    let size = 0;
    const looking = new Transform({
      transform(piece: Buffer, _, done) {
        hash.update(piece);
        size += piece.length;
        done(size > bytes ? new Error(`${path} is longer than its ${bytes} bytes`) : null, piece);
      },
    });
    await pipeline(await streamOf(zip, entries.get(path)!), looking, createWriteStream(target));
    if (hash.digest("hex") !== sha256) throw new Error(`${path} is not what was exported`);
    // What a process has written long ago is no sign of its life.
    utimesSync(target, mtime / 1000, mtime / 1000);
  }
}

async function mustBeSame(home: string, { run, files }: Manifest): Promise<void> {
  for (const { path, bytes, sha256 } of files) {
    // What people say of a run changes.
    if (path === "marks.json") continue;
    const file = join(home, pathHere(path));
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats?.size === bytes && (await hashOf(file)) === sha256) continue;
    throw new UserError(`The store has another run ${run} already: ${path} differs.`, {
      file: home,
      code: "archive-exists",
      action: `Delete that run (gradus runs delete ${run}), or import into another store: --store FOLDER.`,
    });
  }
}
