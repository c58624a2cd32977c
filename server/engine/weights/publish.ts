/**
 * Weights handed from one process to another: a safetensors file with the version in its metadata, written next to its
 * place and renamed, so that a reader finds a whole file of one version or of the next, never a part of either.
 */
import { closeSync, mkdirSync, openSync, readSync, rmSync, statSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import { readSafetensors, writeSafetensors } from "./safetensors.ts";
import { putInPlace } from "../../../shared/lib/putInPlace.mjs";

/** Weights by their own names, flat, in the engine's layout. */
interface VersionedWeights {
  readonly version: number;
  readonly weights: Readonly<Record<string, Float32Array>>;
}

const metadataSchema = z.looseObject({
  __metadata__: z.looseObject({ gradus_version: z.string().regex(/^\d+$/) }),
});
/** Largest header that is believed: names and extents of a large model take well under this. */
const largestHeader = 64 * 2 ** 20;

/** @throws UserError where the file cannot be written; the former one then stays */
export function publishWeights(file: string, { version, weights }: VersionedWeights): void {
  const draft = join(dirname(file), `.${basename(file)}.${process.pid}.part`);
  try {
    mkdirSync(dirname(file), { recursive: true });
    const tensors = Object.fromEntries(
      Object.entries(weights).map(([name, data]) => [name, { shape: [data.length], data }]),
    );
    writeSafetensors(draft, tensors, { gradus_version: String(version) });
    putInPlace(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new UserError(`The weights ${file} could not be written: ${messageOf(error)}.`, {
      file,
      code: "weights-write",
      action: "Free space on this disk or fix the folder's permissions.",
      cause: error,
    });
  }
}

/** The version of published weights, without reading them; undefined where there is no file yet. @throws UserError */
export function publishedVersion(file: string): number | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw notPublished(file, error);
  }
  try {
    const length = Buffer.alloc(8);
    readSync(descriptor, length, 0, 8, 0);
    const bytes = Number(length.readBigUInt64LE());
    if (bytes > largestHeader) throw new Error("its header is too long");
    const header = Buffer.alloc(bytes);
    readSync(descriptor, header, 0, bytes, 8);
    return Number(metadataSchema.parse(JSON.parse(header.toString("utf8"))).__metadata__.gradus_version);
  } catch (error) {
    throw notPublished(file, error);
  } finally {
    closeSync(descriptor);
  }
}

const notPublished = (file: string, cause: unknown): UserError =>
  new UserError(`${file} does not hold published weights: ${messageOf(cause)}.`, {
    file,
    code: "weights-read",
    action: "Name the file that the training process writes.",
    cause,
  });

/** @throws UserError where the file is missing, damaged or has no version */
export function readPublished(file: string): VersionedWeights {
  // Another version may be renamed into place between the two reads: what is read stays what its own header says.
  for (;;) {
    const version = publishedVersion(file);
    if (version === undefined) throw notPublished(file, new Error("there is no such file"));
    const tensors = readSafetensors(file);
    if (publishedVersion(file) !== version) continue;
    return {
      version,
      weights: Object.fromEntries(Object.entries(tensors).map(([name, { data }]) => [name, data])),
    };
  }
}

/** Milliseconds between looks where the file system announces nothing. */
const lookEvery = 500;

/** Which file lies there: another one is renamed into place for each version. */
function identity(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found && `${found.ino}:${found.mtimeNs}`;
}

/**
 * Whatever is published from now on, until the signal is aborted, also an earlier version of a run that was resumed further
 * back; what is replaced before it is read is passed over. Of what lies there already, a newer version.
 * @param after the version already held
 */
export async function* followWeights(
  file: string,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<VersionedWeights> {
  mkdirSync(dirname(file), { recursive: true });
  const change = new Changes(dirname(file), signal);
  try {
    let seen: string | undefined;
    for (let first = true; !signal.aborted; first = false, await change.next()) {
      const now = identity(file);
      if (now === seen) continue;
      seen = now;
      const version = publishedVersion(file);
      if (version === undefined || (first && version <= after)) continue;
      yield readPublished(file);
    }
  } finally {
    change.close();
  }
}

/** Wakes when a folder changes, when it is time to look anyway, or when there is nothing more to wait for. */
class Changes {
  private wake: () => void = () => undefined;
  private changed = false;
  private readonly watcher;
  private readonly stop = (): void => this.announce();

  constructor(
    folder: string,
    private readonly signal: AbortSignal,
  ) {
    this.watcher = watch(folder, () => this.announce());
    // Some file systems cannot be watched: the clock below looks instead.
    this.watcher.on("error", () => this.watcher.close());
    signal.addEventListener("abort", this.stop);
  }
  private announce(): void {
    this.changed = true;
    this.wake();
  }
  async next(): Promise<void> {
    if (!this.changed && !this.signal.aborted)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, lookEvery);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.changed = false;
  }
  close(): void {
    this.watcher.close();
    this.signal.removeEventListener("abort", this.stop);
  }
}
