/** The release that a configuration is checked against. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkoutVersion } from "./checkout.ts";
import type { FrameworkRelease, Framework } from "../text/document.ts";
import type { PackageName } from "./extract/index.ts";
import { smallText } from "../text/fileReader.ts";
import { nearestVersion } from "../text/releaseOrder.ts";
import { tableOf } from "./load.ts";

export interface ReleaseHints {
  /** The Python that a setting names; it wins over an environment next to the file. */
  readonly python?: string | undefined;
  /** Folder of a Python environment that is active. */
  readonly environment?: string | undefined;
}

/** Folders above a file that are looked through for environments and requirements. */
const levels = 8;
const requirementFiles = [
  "requirements.txt",
  "requirements-train.txt",
  "requirements.in",
  "REQUIRED_VERL.txt",
  "pyproject.toml",
];

export function versionOf(
  framework: Framework,
  file: string,
  text: string,
  hints: ReleaseHints = {},
): FrameworkRelease {
  const folders = foldersAbove(file);
  const release = ownRelease(framework, folders, text, hints);
  const below = framework === "trl" ? pinned("transformers", folders, text) : undefined;
  return below === undefined ? release : { ...release, transformers: below };
}

/** The release of a package without a table that a file, or the requirements near it, name. */
export const namedRelease = (name: string, file: string, text: string): string | undefined =>
  pinned(name, foldersAbove(file), text);

/** The release of a package that the text, or a list of requirements near it, names. */
const pinned = (name: string, folders: readonly string[], text: string): string | undefined =>
  namedIn(text, name) ??
  folders.map((folder) => requiredIn(folder, name)).find((version) => version !== undefined);

function ownRelease(
  framework: Framework,
  folders: readonly string[],
  text: string,
  { python, environment = process.env["VIRTUAL_ENV"] }: ReleaseHints,
): FrameworkRelease {
  const named = namedIn(text, framework);
  if (named !== undefined) return releaseOf(framework, named, "file");
  const own = folders.find((folder) => checkoutVersion(folder, framework) !== undefined);
  if (own !== undefined)
    return { ...releaseOf(framework, checkoutVersion(own, framework) ?? "", "checkout"), folder: own };
  const installed = installedIn(framework, folders, { python, environment });
  if (installed !== undefined)
    return { ...releaseOf(framework, installed.version, "installed"), folder: installed.folder };
  const required = pinned(framework, folders, "");
  if (required !== undefined) return releaseOf(framework, required, "file");
  return releaseOf(framework, tableOf(framework).versions.at(-1) ?? "", "newest");
}

const releaseOf = (
  framework: PackageName & Framework,
  text: string,
  from: FrameworkRelease["from"],
): FrameworkRelease => ({
  text,
  from,
  table: nearestVersion(text, tableOf(framework).versions),
});

/** `pip install trl==1.2`, `verl@v0.7.1` and a comment that says `OpenRLHF 0.9.4`; not an image's tag (`ascend/verl:v0.8.0-cann9`). */
function namedIn(text: string, framework: string): string | undefined {
  const pinned = new RegExp(
    `\\b${framework}(?:\\.git|\\[[\\w, ]*\\])?\\s*(?:===?|~=|@\\s*v?)\\s*(\\d+\\.\\d+(?:\\.\\d+)?)`,
    "i",
  );
  const mentioned = new RegExp(
    `^\\s*#(?!.*/${framework}:).*\\b${framework}(?:\\s+version:?)?[ :=]+v?(\\d+\\.\\d+(?:\\.\\d+)?)\\b`,
    "im",
  );
  return pinned.exec(text)?.[1] ?? mentioned.exec(text)?.[1];
}

function foldersAbove(file: string): string[] {
  const found: string[] = [];
  for (let folder = dirname(file); found.length < levels; folder = dirname(folder)) {
    found.push(folder);
    if (existsSync(join(folder, ".git")) || dirname(folder) === folder) break;
  }
  return found;
}

interface Installed {
  readonly version: string;
  /** site-packages. */
  readonly folder: string;
}

function installedIn(
  framework: Framework,
  folders: readonly string[],
  { python, environment }: ReleaseHints,
): Installed | undefined {
  const near = folders.flatMap((folder) => [".venv", "venv", "env"].map((name) => join(folder, name)));
  return [...environmentsAt(python), ...near, ...environmentsAt(environment)]
    .flatMap((place) => sitePackages(place))
    .map((folder) => installedAt(folder, framework))
    .find((found) => found !== undefined);
}

/** An environment may be named by its Python: bin/python. */
const environmentsAt = (place: string | undefined): string[] =>
  place === undefined ? [] : [place, dirname(dirname(place))];

function sitePackages(environment: string): string[] {
  const windows = join(environment, "Lib", "site-packages");
  if (existsSync(windows)) return [windows];
  const lib = join(environment, "lib");
  if (!existsSync(lib)) return [];
  return readdirSync(lib)
    .filter((name) => name.startsWith("python3"))
    .map((name) => join(lib, name, "site-packages"))
    .filter((folder) => existsSync(folder));
}

/** Folders of packages are long: read again only when something was installed. */
const packages = new Map<string, { readonly stamp: number; readonly found: ReadonlyMap<string, string> }>();

function installedAt(folder: string, framework: string): Installed | undefined {
  const stamp = statSync(folder).mtimeMs;
  const known = packages.get(folder);
  const found = known?.stamp === stamp ? known.found : versionsIn(folder);
  packages.set(folder, { stamp, found });
  const version = found.get(framework);
  return version === undefined ? undefined : { version, folder };
}

/** The installed version of another package next to the framework, such as Transformers. */
export const installedVersion = (folder: string, name: string): string | undefined =>
  installedAt(folder, name)?.version;

function versionsIn(folder: string): Map<string, string> {
  return new Map(
    readdirSync(folder).flatMap((name) => {
      const match = /^([\w.]+)-(\d[\w.]*?)(?:\+[\w.]+)?\.dist-info$/.exec(name);
      return match === null ? [] : [[match[1]!.toLowerCase(), match[2]!] as const];
    }),
  );
}

function requiredIn(folder: string, framework: string): string | undefined {
  for (const name of requirementFiles) {
    const text = smallText(join(folder, name));
    const version = text === undefined ? undefined : namedIn(text, framework);
    if (version !== undefined) return version;
  }
  return undefined;
}
