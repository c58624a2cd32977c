/**
 * Packages that work without any set-up, slower than those that it builds (SQLite, esbuild) or the only ones there are
 * (the interpreters of the sandbox). A checkout has them in node_modules. A package of ours holds each as one file,
 * `dist/carried/NAME-VERSION-HASH.br`: together that is 3 MB less than the same files in a .vsix. The first use unpacks
 * it into the data folder.
 */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, delimiter, dirname, join, parse } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import type * as esbuild from "esbuild";
import { z } from "zod";
import { UserError, messageOf } from "../../shared/lib/errors.ts";
import { dataFolder, isInstalled, nativeRequire, versionIn } from "./natives.ts";
import { putInPlace } from "../../shared/lib/putInPlace.mjs";

export type Carried =
  | "@tensorflow/tfjs-backend-wasm"
  | "node-sqlite3-wasm"
  | "esbuild-wasm"
  | "pyodide"
  | "@jitl/quickjs-ng-wasmfile-release-sync";

/** The packed file's name as scripts/package/carry.mjs writes it, but for version, hash and ending. */
const packedName = (name: Carried): string => name.replace("/", "+");
const packedFiles = z.array(z.object({ path: z.string(), bytes: z.number().int().nonnegative() }));

function packedIn(folder: string, name: Carried): string | undefined {
  const carried = join(folder, "carried");
  if (!existsSync(carried)) return undefined;
  const file = readdirSync(carried).find(
    (one) => one.startsWith(`${packedName(name)}-`) && one.endsWith(".br"),
  );
  return file === undefined ? undefined : join(carried, file);
}

/** Writes a packed package's files: their list as a line of JSON, then their bytes one after the other. */
function unpackInto(folder: string, packed: string): void {
  const bytes = brotliDecompressSync(readFileSync(packed));
  const end = bytes.indexOf("\n");
  let at = end + 1;
  for (const { path, bytes: length } of packedFiles.parse(JSON.parse(bytes.toString("utf8", 0, end)))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes.subarray(at, at + length));
    at += length;
  }
}

/** The folder that a packed file is unpacked to; its name has the content's hash, so one that is there is complete. */
function unpacked(packed: string): string {
  const folder = join(dataFolder(), "carried", basename(packed, ".br"));
  if (existsSync(folder)) return folder;
  const partial = `${folder}.${randomUUID()}`;
  try {
    unpackInto(partial, packed);
    putInPlace(partial, folder);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    // Another process was first.
    if (existsSync(folder)) return folder;
    throw new UserError(`${basename(packed)} cannot be unpacked: ${messageOf(error)}`, {
      file: folder,
      code: "unpack",
      cause: error,
      action: "Name a folder that you may write in GRADUS_DATA, with 40 MB of free space.",
    });
  }
  return folder;
}

/** @throws UserError where the package is incomplete, or the data folder cannot be written */
export function carriedFolder(name: Carried): string {
  const here = dirname(fileURLToPath(import.meta.url));
  for (let folder = here; ; folder = dirname(folder)) {
    const packed = packedIn(folder, name);
    if (packed !== undefined) return unpacked(packed);
    if (existsSync(join(folder, "node_modules", name, "package.json")))
      return join(folder, "node_modules", name);
    if (folder === parse(folder).root)
      throw new UserError(`${name} is missing: this package is incomplete.`, {
        file: here,
        code: "incomplete",
        action: "Install Gradus again.",
      });
  }
}
export const carriedVersion = (name: Carried): string => versionIn(carriedFolder(name));
export function requireCarried<T>(name: Carried): T {
  const folder = carriedFolder(name);
  return createRequire(join(folder, "package.json"))(folder);
}

/** esbuild with its own binary where it is installed, else in WebAssembly: the same version, so the same output. */
export function requireEsbuild(): typeof esbuild {
  if (isInstalled("esbuild")) return nativeRequire()("esbuild");
  // It starts `node` by name, and this one may be none that the PATH has.
  const path = process.env["PATH"] ?? "";
  const own = dirname(process.execPath);
  if (!path.split(delimiter).includes(own)) process.env["PATH"] = `${path}${delimiter}${own}`;
  return requireCarried("esbuild-wasm");
}
