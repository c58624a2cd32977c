/**
 * Keeps with a run what it was made of: the text of each file of rewards, environments and tools as it was loaded, sizes and hashes of its data, and
 * the versions of what computes. Texts and sizes are written before the first step. Data are hashed while the run
 * trains, a piece at a time, for at most a fifth of this thread's time: the run starts and steps as it would without.
 */
import { createHash } from "node:crypto";
import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, extname, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { messageOf } from "../../../shared/lib/errors.ts";
import {
  codeFiles,
  keepText,
  readSources,
  writeSources,
  type KeptCode,
  type KeptData,
  type RunSources,
} from "../../../shared/run/sources.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { datasetOf } from "../../core/datasetLines.ts";
import { datasetFiles } from "../../lib/datasets/files.ts";
import { datasetPlace } from "../../lib/datasets/name.ts";
import type { Prepared, SourceText } from "../../lib/own/prepared.ts";
import { withoutSecrets } from "../../lib/texts/withoutSecrets.ts";
import { relativePath, slashed } from "../../../shared/lib/slashes.ts";

/** The user's code: of rewards by term, of environments by task source, of tools by their names. */
export type LoadedCode = Readonly<Record<"rewards" | "environments" | "tools", Map<string, Prepared>>>;

interface Kept {
  /** Of the run. */
  readonly folder: string;
  readonly attempt: number;
  readonly version: string;
  readonly config: RunConfig;
  readonly loaded: LoadedCode;
  /** Sources are for comparisons: what cannot be kept is reported, and the run goes on. */
  readonly report: (message: string) => void;
}

export interface SourceKeeping {
  /** Files of code that were others in the attempt before; paths from the config's folder. */
  readonly changed: readonly string[];
  /** Waits for what is under way, but only for so long. */
  end(milliseconds?: number): Promise<void>;
}

/** Of a file that is hashed. */
const pieceBytes = 1 << 20;
/** How much of this thread's time hashing may take. */
const share = 0.2;
/** How long a run that ends waits for its hashes. */
const patience = 2_000;

export function keepSources(kept: Kept): SourceKeeping {
  const stopped = new AbortController();
  try {
    const sources = firstSources(kept);
    writeSources(kept.folder, kept.attempt, sources);
    const work = complete(kept, sources, stopped.signal).catch((error: unknown) => {
      if (!stopped.signal.aborted) kept.report(messageOf(error));
    });
    return {
      changed: changedFiles(kept, sources),
      end: async (milliseconds = patience) => {
        const timer = setTimeout(() => stopped.abort(), milliseconds);
        await work;
        clearTimeout(timer);
      },
    };
  } catch (error) {
    kept.report(messageOf(error));
    return { changed: [], end: () => Promise.resolve() };
  }
}

const sourcesBefore = (folder: string, attempt: number): RunSources | undefined =>
  attempt === 0 ? undefined : readSources(folder, attempt - 1);

/** A file that only one of the attempts has is no change of its own: what imports or names it has changed. */
function changedFiles({ folder, attempt }: Kept, sources: RunSources): readonly string[] {
  const before = sourcesBefore(folder, attempt);
  const hashes = new Map(before && codeFiles(before).map(({ path, sha256 }) => [path, sha256]));
  const changed = codeFiles(sources).filter(({ path, sha256 }) => (hashes.get(path) ?? sha256) !== sha256);
  return [...new Set(changed.map(({ path }) => path))];
}

function firstSources({ folder, attempt, version, config, loaded }: Kept): RunSources {
  const before = sourcesBefore(folder, attempt);
  const root = dirname(config.file);
  const files = ({ sources = [] }: Prepared): KeptCode[] =>
    sources.map((source) => keptCode(folder, root, source));
  return {
    gradus: version,
    node: process.versions.node,
    rewards: [...loaded.rewards].map(([term, made]) => ({ term, files: files(made) })),
    environments: [...loaded.environments].map(([task, made]) => ({ task, files: files(made) })),
    tools: [...loaded.tools].map(([tool, made]) => ({ tool, files: files(made) })),
    data: dataFiles(config).flatMap((file) => keptData(root, file, before)),
    python: before?.python ?? null,
  };
}

const code = new Set([".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx", ".py", ".ipynb"]);
const installed = /(^|\/)(node_modules|site-packages|\.venv|venv)(\/|$)/;

/** Code of the workspace is copied; of a package that is installed, and of a data file that a bundle takes in, there is a hash. */
function keptCode(folder: string, root: string, { path, text }: SourceText): KeptCode {
  const sha256 = createHash("sha256").update(text).digest("hex");
  const own = { path: relativePath(root, path), sha256 };
  if (!code.has(extname(path)) || installed.test(slashed(path))) return { ...own, kept: null };
  const { text: clean, masked } = withoutSecrets(text);
  const kept = `${sha256.slice(0, 12)}-${basename(path)}`;
  keepText(folder, kept, clean);
  return { ...own, kept, ...(masked ? { masked } : {}) };
}

function dataFiles({ top, stages }: RunConfig): string[] {
  const bodies = [top, ...stages.map(({ body }) => body)];
  return [...new Set(bodies.flatMap((body) => [...datasetsOf(body), ...replayed(body)]))];
}
const datasetsOf = ({ tasks }: StageBody): string[] =>
  tasks.flatMap(({ source }) => {
    const dataset = datasetOf(source);
    return dataset === undefined ? [] : datasetFiles(datasetPlace(source.folder, dataset));
  });
function replayed({ replay: { source } }: StageBody): string[] {
  const { path } = source.params;
  return typeof path === "string" ? [resolve(source.folder, path)] : [];
}

function keptData(root: string, file: string, before: RunSources | undefined): KeptData[] {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) return [];
  const own = {
    path: relativePath(root, file),
    bytes: stats.size,
    modified: stats.mtime.toISOString(),
  };
  const same = before?.data.find(
    ({ path, bytes, modified }) => path === own.path && bytes === own.bytes && modified === own.modified,
  );
  return [{ ...own, sha256: same?.sha256 ?? null }];
}

/** What takes longer: the releases of Python packages, then one hash after the other, each written once it is known. */
async function complete(kept: Kept, first: RunSources, signal: AbortSignal): Promise<void> {
  const { folder, attempt, config } = kept;
  let sources = first;
  const write = (more: Partial<RunSources>): void =>
    writeSources(folder, attempt, (sources = { ...sources, ...more }));
  const python = await pythonOf(Object.values(kept.loaded).flatMap((made) => [...made.values()]));
  if (python !== undefined) write({ python });
  for (const one of sources.data) {
    if (one.sha256 !== null) continue;
    const sha256 = await hashOf(resolve(dirname(config.file), one.path), signal);
    write({ data: sources.data.map((other) => (other.path === one.path ? { ...other, sha256 } : other)) });
  }
}

async function hashOf(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  const file = await open(path);
  try {
    const buffer = Buffer.allocUnsafe(pieceBytes);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, pieceBytes);
      if (bytesRead === 0) return hash.digest("hex");
      const began = performance.now();
      hash.update(buffer.subarray(0, bytesRead));
      await pause((performance.now() - began) * (1 / share - 1), undefined, { signal });
    }
  } finally {
    await file.close();
  }
}

/** Imports none of them: `importlib.metadata` reads what pip has written. */
const script = `
import json, sys
from importlib import metadata
names, found = sys.argv[1:], {}
owners = metadata.packages_distributions() if hasattr(metadata, "packages_distributions") else {}
for name in names:
    for package in owners.get(name, [name]):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            pass
print(json.dumps({"version": sys.version.split()[0], "packages": found}))
`;
const answerSchema = z.object({ version: z.string(), packages: z.record(z.string(), z.string()) });
type PythonAnswer = z.output<typeof answerSchema>;

/** Of several interpreters the first one's version, and the packages of all. */
async function pythonOf(loaded: readonly Prepared[]): Promise<PythonAnswer | undefined> {
  const modules = new Map<string, Set<string>>();
  for (const { python } of loaded)
    if (python !== undefined)
      modules.set(python.path, new Set([...(modules.get(python.path) ?? []), ...python.modules]));
  const answers = await Promise.all([...modules].map(([path, names]) => asked(path, [...names].sort())));
  const known = answers.filter((answer) => answer !== undefined);
  const [first] = known;
  return first === undefined
    ? undefined
    : { version: first.version, packages: Object.assign({}, ...known.map(({ packages }) => packages)) };
}

/** undefined: a Python without `importlib.metadata`, or one that does not answer in time. */
const asked = (path: string, names: readonly string[]): Promise<PythonAnswer | undefined> =>
  new Promise((answer) => {
    execFile(
      path,
      ["-c", script, ...names],
      { timeout: 20_000, windowsHide: true, encoding: "utf8" },
      (error, output) => {
        try {
          answer(error === null ? answerSchema.parse(JSON.parse(output)) : undefined);
        } catch {
          answer(undefined); // its start-up files print lines of their own
        }
      },
    );
  });
