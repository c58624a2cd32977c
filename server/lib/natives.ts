/**
 * Where native modules and packages that must stay folders on disk are loaded from. In a checkout that is its own
 * node_modules; an installed extension has none, so set-up puts them into a versioned data folder and
 * GRADUS_NATIVE_ROOT names it. Set-up (scripts/setup.mjs) writes down what it built and for which Node; this file is
 * the only reader of that record.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join, parse } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { engineCommand } from "../../shared/lib/systemWords.mjs";

/** The same place as `dataFolder` in scripts/setup/places.mjs. */
export function dataFolder(): string {
  const shared = process.env["XDG_DATA_HOME"];
  return process.env["GRADUS_DATA"] ?? join(shared ? shared : join(homedir(), ".local", "share"), "gradus");
}

/** The folder whose `node_modules` holds the native packages: GRADUS_NATIVE_ROOT, else the checkout around this file. */
export function nativeRoot(): string {
  const named = process.env["GRADUS_NATIVE_ROOT"];
  if (named !== undefined && named !== "") return named;
  const here = dirname(fileURLToPath(import.meta.url));
  for (let folder = here; folder !== parse(folder).root; folder = dirname(folder))
    if (existsSync(join(folder, "node_modules", "better-sqlite3"))) return folder;
  return here;
}

/** The folder of a checkout, or of an unpacked package, around this file: it holds bin/ and scripts/. */
export function homeFolder(): string | undefined {
  const here = dirname(fileURLToPath(import.meta.url));
  for (let folder = here; folder !== parse(folder).root; folder = dirname(folder))
    if (existsSync(join(folder, "scripts", "setup.mjs"))) return folder;
  return undefined;
}
/** What installs the engine here. */
export const engineFix = (): string => engineCommand(homeFolder());

/** Resolves and requires packages from the native root. */
export function nativeRequire(): NodeJS.Require {
  return createRequire(join(nativeRoot(), "package.json"));
}

/** Of the package in a folder. */
export const versionIn = (folder: string): string =>
  z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")))
    .version;
const nativeFolder = (name: string): string => join(nativeRoot(), "node_modules", name);
export const isInstalled = (name: string): boolean => existsSync(join(nativeFolder(name), "package.json"));

/** Version of an installed native package; also of one that does not export its package.json. */
export const nativeVersion = (name: string): string => versionIn(nativeFolder(name));

const nodeRecord = z.object({ path: z.string(), version: z.string(), abi: z.string() });
const record = z.object({
  node: nodeRecord,
  sqlite: z.object({
    driver: z.enum(["better-sqlite3", "libsql", "none"]),
    reason: z.string(),
    mend: z.string().optional(),
  }),
  engine: z.object({
    backend: z.enum(["native", "wasm"]),
    folder: z.string().optional(),
    reason: z.string(),
    mend: z.string().optional(),
  }),
});
type SetupRecord = z.infer<typeof record>;
type NodeRecord = z.infer<typeof nodeRecord>;

/** Where set-up records what it did, next to the packages that it concerns: `npm ci` removes both together. */
const recordFile = (root = nativeRoot()): string => join(root, "node_modules", ".gradus", "setup.json");

/** What set-up recorded, or undefined when it has not run (or an older version wrote another shape). */
export function setupRecord(root = nativeRoot()): SetupRecord | undefined {
  const file = recordFile(root);
  if (!existsSync(file)) return undefined;
  const parsed = record.safeParse(JSON.parse(readFileSync(file, "utf8")));
  return parsed.success ? parsed.data : undefined;
}

/** The native engine's addon, in the folder that set-up chose; undefined: there is none. */
export function engineAddon(): string | undefined {
  const folder = setupRecord()?.engine.folder;
  // The same as `addonPath` in scripts/setup/systems.mjs.
  return folder === undefined ? undefined : join(folder, "lib", "napi-v8", "tfjs_binding.node");
}

/** The Node that set-up built for, when it is still there: the daemon and every worker run under it. */
export function recordedNode(root = nativeRoot()): NodeRecord | undefined {
  const node = setupRecord(root)?.node;
  return node !== undefined && existsSync(node.path) ? node : undefined;
}

/** `better-sqlite3` as it is named in the cache of built bindings: one file per version, ABI, platform and processor. */
const sqliteCacheName = (version: string): string =>
  `better-sqlite3-${version}-abi${process.versions.modules}-${process.platform}-${process.arch}`;

/**
 * The binding set-up built for the ABI of the running Node, for the `nativeBinding` option of better-sqlite3.
 * Undefined: none was built; better-sqlite3 then looks inside its own package, else `sqliteDriver()` names libsql.
 */
export function sqliteBinding(): string | undefined {
  if (!isInstalled("better-sqlite3")) return undefined;
  const file = join(
    dataFolder(),
    "native",
    sqliteCacheName(nativeVersion("better-sqlite3")),
    "better_sqlite3.node",
  );
  return existsSync(file) ? file : undefined;
}

const sqliteDrivers = ["better-sqlite3", "libsql", "node-sqlite3-wasm"] as const;
export type SqliteDriver = (typeof sqliteDrivers)[number];

/**
 * Which SQLite package to open a store with: better-sqlite3 where it is built for the running Node, libsql where set-up
 * found no way to build it, else the one that needs no set-up. GRADUS_SQLITE names one whatever there is: for tests,
 * and to try another.
 */
export function sqliteDriver(): SqliteDriver {
  const named = sqliteDrivers.find((name) => name === process.env["GRADUS_SQLITE"]);
  if (named !== undefined) return named;
  const builtInPlace = (): boolean =>
    existsSync(join(nativeFolder("better-sqlite3"), "build", "Release", "better_sqlite3.node"));
  if (sqliteBinding() !== undefined || builtInPlace()) return "better-sqlite3";
  return setupRecord()?.sqlite.driver === "libsql" && isInstalled("libsql") ? "libsql" : "node-sqlite3-wasm";
}
