/** A user's reward as one file: bundled so that it can import what it likes, and hashed so that a run knows what scored it. */
import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type * as esbuild from "esbuild";
import { z } from "zod";
import { UserError, messageOf, readFailure } from "../../../../shared/lib/errors.ts";
import { regularFile } from "../../../lib/inputFile.ts";
import type { SourceText } from "../../../core/reward.ts";
import { requireEsbuild } from "../../../lib/natives.ts";

export interface Bundle {
  readonly text: string;
  readonly sha256: string;
}

/** Of what a reward imports. esbuild says at which import, since an error that names no place gets that one. */
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

function refusal(file: string, term: string, error: unknown): UserError {
  const first = isFailure(error) ? error.errors[0] : undefined;
  return new UserError(`reward term "${term}": ${first?.text ?? messageOf(error)}`, {
    file: first?.location?.file === undefined ? file : join(dirname(file), first.location.file),
    ...(first?.location === undefined || first.location === null
      ? {}
      : { line: first.location.line - 1, character: first.location.column }),
    code: "reward-build",
    cause: error,
    action: "Correct the file; the run can start once it bundles.",
  });
}

async function build(file: string, term: string, text: string | undefined): Promise<string> {
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
      sourcemap: "inline",
      // A stack names the user's file, not the folder that the bundle lies in.
      sourceRoot: `${pathToFileURL(dirname(file)).href}/`,
      logLevel: "silent",
      plugins: [regularFiles],
      // The bundle lies elsewhere; code that reads files next to itself must still find them.
      define: { "import.meta.url": JSON.stringify(pathToFileURL(file).href) },
      banner: {
        js: `import { createRequire as __createRequire } from "node:module"; const require = __createRequire(${JSON.stringify(file)});`,
      },
    });
    return outputFiles[0]?.text ?? "";
  } catch (error) {
    throw refusal(file, term, error);
  }
}

const loaderOf = (file: string): "ts" | "js" => (/\.[cm]?ts$/.test(file) ? "ts" : "js");

/** The bundler would wait for a pipe for ever, and read a device until the memory is full. */
function refuseOthers(file: string, term: string): void {
  try {
    regularFile(file);
  } catch (error) {
    throw new UserError(`reward term "${term}": the file cannot be read: ${readFailure(error)}`, {
      file,
      code: "reward-build",
      cause: error,
      action: "Name a TypeScript or JavaScript file in `use`.",
    });
  }
}

const mapComment = /\n\/\/# sourceMappingURL=data:application\/json;base64,([\w+/=]+)\s*$/;
const mapSchema = z.object({ sources: z.array(z.string()), sourcesContent: z.array(z.string().nullable()) });

/** The files that were bundled, with their texts as they were then, out of the bundle's map: the reward's own first. */
export function bundledSources(file: string, { text }: Pick<Bundle, "text">): readonly SourceText[] {
  const encoded = mapComment.exec(text)?.[1];
  if (encoded === undefined) return [];
  const { sources, sourcesContent } = mapSchema.parse(
    JSON.parse(Buffer.from(encoded, "base64").toString("utf8")),
  );
  const own = realpathSync(file);
  // Imports come before what imports them.
  return sources
    .map((source, at) => ({ path: resolve(dirname(own), source), text: sourcesContent[at] ?? "" }))
    .sort((one, other) => Number(other.path === own) - Number(one.path === own));
}

/** @param unsaved the file's text as it is in an editor */
export async function bundleReward(file: string, term: string, unsaved?: string): Promise<Bundle> {
  if (!existsSync(file))
    throw new UserError(`reward term "${term}": there is no file ${file}`, {
      file,
      code: "reward-missing",
      action: "Check the path in `use`; it is relative to the config that names it.",
    });
  if (unsaved === undefined) refuseOthers(file, term);
  const text = await build(realpathSync(file), term, unsaved);
  // The map names absolute places of this machine, so it is left out of the hash.
  const code = text
    .replace(/\n\/\/# sourceMappingURL=.*\s*$/, "")
    .replaceAll(dirname(realpathSync(file)), "");
  return { text, sha256: createHash("sha256").update(code).digest("hex") };
}
