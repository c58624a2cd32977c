/** A run as one file: a zip of its folder, so that any program can look into it. */
import { createWriteStream, existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { ZipFile } from "yazl";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { attemptsOf, logStart, readRollouts, type LogPosition } from "../../../shared/log/reader.ts";
import { placedFile } from "../../analysis/imported/placedStep.ts";
import { hashOf, manifestName, type Manifest } from "./manifest.ts";
import { putInPlace } from "../../../shared/lib/putInPlace.mjs";
import { liesIn } from "../../../shared/lib/liesIn.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

export interface ArchiveRequest {
  /** `runs/<id>` */
  readonly folder: string;
  readonly run: string;
  readonly out: string;
  readonly checkpoints: boolean;
  /** Of Gradus. */
  readonly version: string;
}

/** What belongs to the process that worked on it, and to this machine. */
const own = new Set(["lease", "control.jsonl", "worker.log"]);
const checkpoints = "checkpoints";
const packed = /\.(safetensors|zst|gz|parquet)$/;

/** @throws UserError where the file cannot be written; nothing is left then */
export async function exportArchive(request: ArchiveRequest): Promise<Manifest> {
  const sources = [...filesOf(request.folder, request.checkpoints), ...placedFiles(request.folder)];
  const files: Manifest["files"] = [];
  for (const { path, file } of sources) {
    const { size, mtimeMs } = statSync(file);
    files.push({ path, bytes: size, sha256: await hashOf(file), mtime: Math.round(mtimeMs) });
  }
  const manifest: Manifest = {
    format: "gradus-run",
    version: 1,
    run: request.run,
    gradus: request.version,
    checkpoints: request.checkpoints,
    files,
  };
  const draft = `${request.out}.part`;
  try {
    const zip = new ZipFile();
    const failed = new Promise<never>((_, reject) => zip.on("error", reject));
    zip.addBuffer(Buffer.from(JSON.stringify(manifest, null, 1)), manifestName);
    for (const { path, file } of sources) zip.addFile(file, path, { compress: !packed.test(path) });
    zip.end();
    await Promise.race([pipeline(zip.outputStream, createWriteStream(draft)), failed]);
    putInPlace(draft, request.out);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new UserError(`The run cannot be written to one file: ${messageOf(error)}.`, {
      file: request.out,
      code: "archive-unwritten",
      cause: error,
      action: "Free space there, or name another place: --out FILE.gradusrun.",
    });
  }
  return manifest;
}

interface SourceFile {
  readonly path: string;
  readonly file: string;
}

function filesOf(folder: string, withCheckpoints: boolean): SourceFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ file, path: relativePath(folder, file) }))
    .filter(({ path }) => !own.has(path) && (withCheckpoints || !path.startsWith(`${checkpoints}/`)))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** Rollouts that lie in another trainer's files come along: they are looked for in `rollouts/` where theirs is gone. */
function placedFiles(folder: string): SourceFile[] {
  const found = new Map<string, SourceFile>();
  for (const attempt of attemptsOf(folder)) {
    let position: LogPosition = logStart;
    for (let more = true; more;) {
      const read = readRollouts(folder, attempt, position);
      for (const { records } of read.steps)
        for (const record of records) {
          if (record.kind !== "placed") continue;
          const file = placedFile(folder, record);
          if (existsSync(file) && !liesIn(file, folder))
            found.set(basename(file), { path: `rollouts/${basename(file)}`, file });
        }
      ({ position, more } = read);
    }
  }
  return [...found.values()];
}
