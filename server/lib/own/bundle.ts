/** A user's file as one: bundled so that it can import what it likes, and hashed so that a run knows what it was. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type * as esbuild from "esbuild";
import { z } from "zod";
import { UserError, messageOf, readFailure } from "../../../shared/lib/errors.ts";
import { limits, readText, regularFile } from "../inputFile.ts";
import { requireEsbuild } from "../carried.ts";
import type { SourceText } from "./prepared.ts";
import { realPath } from "../../../shared/lib/realPath.ts";

export interface Bundle {
  readonly text: string;
  readonly sha256: string;
}

/** Whose file it is, for messages. */
export interface Owner {
  /** `reward term "form"`. */
  readonly what: string;
  /** The key that names the file. */
  readonly key: string;
  /** Codes of errors: there is no such file; it cannot be read or bundled. */
  readonly missing: string;
  readonly build: string;
}

/** Of what a file imports. esbuild says at which import, since an error that names no place gets that one. */
const regularFiles: esbuild.Plugin = {
  name: "regular-files",
  setup: ({ onLoad }) =>
    onLoad({ filter: /.*/, namespace: "file" }, ({ path }) => {
      try {
        regularFile(path);
        return undefined;
      } catch (error) {
        return { errors: [{ text: `${path} cannot be read: ${readFailure(error)}` }] };
      }
    }),
};

const isFailure = (error: unknown): error is esbuild.BuildFailure =>
  error instanceof Error && "errors" in error && Array.isArray(error.errors);

function refusal(file: string, { what, build: code }: Owner, error: unknown): UserError {
  const first = isFailure(error) ? error.errors[0] : undefined;
  return new UserError(`${what}: ${first?.text ?? messageOf(error)}`, {
    file: first?.location?.file === undefined ? file : join(dirname(file), first.location.file),
    ...(first?.location === undefined || first.location === null
      ? {}
      : { line: first.location.line - 1, character: first.location.column }),
    code,
    cause: error,
    action: "Correct the file; the run can start once it bundles.",
  });
}

/** The first line of a bundle that has been made to travel: where it arrives, there need be no bundler. */
const travels = "// gradus: bundled";

/** What ties a bundle to the place of its file. */
const placed = (file: string): esbuild.BuildOptions => ({
  sourcemap: "inline",
  // A stack names the user's file, not the folder that the bundle lies in.
  sourceRoot: `${pathToFileURL(dirname(file)).href}/`,
  // The bundle lies elsewhere; code that reads files next to itself must still find them.
  define: { "import.meta.url": JSON.stringify(pathToFileURL(file).href) },
  banner: {
    js: `import { createRequire as __createRequire } from "node:module"; const require = __createRequire(${JSON.stringify(file)});`,
  },
});
const unplaced: esbuild.BuildOptions = {
  banner: {
    js: `${travels}\nimport { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);`,
  },
};

async function build(
  file: string,
  owner: Owner,
  text: string | undefined,
  more = placed(file),
): Promise<string> {
  try {
    const { outputFiles } = await requireEsbuild().build({
      ...(text === undefined
        ? { entryPoints: [file] }
        : { stdin: { contents: text, sourcefile: file, resolveDir: dirname(file), loader: loaderOf(file) } }),
      absWorkingDir: dirname(file),
      bundle: true,
      write: false,
      platform: "node",
      target: "node20",
      format: "esm",
      logLevel: "silent",
      plugins: [regularFiles],
      ...more,
    });
    return outputFiles?.[0]?.text ?? "";
  } catch (error) {
    throw refusal(file, owner, error);
  }
}

const loaderOf = (file: string): "ts" | "js" => (/\.[cm]?ts$/.test(file) ? "ts" : "js");

/** The bundler would wait for a pipe for ever, and read a device until the memory is full. */
function refuseOthers(file: string, { what, key, build: code }: Owner): void {
  try {
    regularFile(file);
  } catch (error) {
    throw new UserError(`${what}: the file cannot be read: ${readFailure(error)}`, {
      file,
      code,
      cause: error,
      action: `Name a TypeScript or JavaScript file in \`${key}\`.`,
    });
  }
}

const mapComment = /\n\/\/# sourceMappingURL=data:application\/json;base64,([\w+/=]+)\s*$/;
const mapSchema = z.object({ sources: z.array(z.string()), sourcesContent: z.array(z.string().nullable()) });

/** The files that were bundled, with their texts as they were then, out of the bundle's map: the named file first. */
export function bundledSources(file: string, { text }: Pick<Bundle, "text">): readonly SourceText[] {
  const encoded = mapComment.exec(text)?.[1];
  if (encoded === undefined) return [];
  const { sources, sourcesContent } = mapSchema.parse(
    JSON.parse(Buffer.from(encoded, "base64").toString("utf8")),
  );
  const own = realPath(file);
  // Imports come before what imports them.
  return sources
    .map((source, at) => ({ path: resolve(dirname(own), source), text: sourcesContent[at] ?? "" }))
    .sort((one, other) => Number(other.path === own) - Number(one.path === own));
}

function checkThere(file: string, owner: Owner): void {
  if (existsSync(file)) return;
  throw new UserError(`${owner.what}: there is no file ${file}`, {
    file,
    code: owner.missing,
    action: `Check the path in \`${owner.key}\`; it is relative to the config that names it.`,
  });
}

/** A bundle that runs anywhere: nothing in it names a place of this machine, and whoever loads it needs no bundler. */
export async function travellingBundle(file: string, owner: Owner): Promise<string> {
  checkThere(file, owner);
  refuseOthers(file, owner);
  return build(realPath(file), owner, undefined, unplaced);
}

/** @param unsaved the file's text as it is in an editor */
export async function bundleOwn(file: string, owner: Owner, unsaved?: string): Promise<Bundle> {
  checkThere(file, owner);
  if (unsaved === undefined) refuseOthers(file, owner);
  const written = unsaved ?? readText(file, limits.text);
  const text = written.startsWith(travels) ? written : await build(realPath(file), owner, unsaved);
  // The map names absolute places of this machine, so it is left out of the hash.
  const code = text.replace(/\n\/\/# sourceMappingURL=.*\s*$/, "").replaceAll(dirname(realPath(file)), "");
  return { text, sha256: createHash("sha256").update(code).digest("hex") };
}
