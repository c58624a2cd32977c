/** Real files: what ships, and the fixtures of rules and of the other frameworks. */
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

export interface Source {
  readonly file: string;
  readonly uri: string;
  readonly languageId: string;
  readonly text: string;
}

const own = ["examples", "presets", "test/fixtures/config/rules"];
const frameworks = ["test/fixtures/convert", "test/fixtures/frameworks"];
const longest = 64 << 10;

function below(folder: string, endings: RegExp): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && endings.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

const source = (file: string, languageId: string): Source => ({
  file: resolve(file),
  uri: pathToFileURL(resolve(file)).href,
  languageId,
  text: readFileSync(file, "utf8"),
});

export function corpus(): { readonly own: readonly Source[]; readonly frameworks: readonly Source[] } {
  return {
    own: own.flatMap((folder) => below(folder, /\.ya?ml$/).map((file) => source(file, "gradus-yaml"))),
    frameworks: frameworks
      .flatMap((folder) => below(folder, /\.(ya?ml|sh|bash|py)$/).map((file) => source(file, "")))
      .filter(({ text }) => text.length < longest),
  };
}
