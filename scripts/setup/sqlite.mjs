// SQLite: in a checkout better-sqlite3, built once per version and ABI and kept for every checkout; else libsql, which npm has
// built; else the one in WebAssembly.
import { copyFileSync, existsSync, mkdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { installCommand } from "../../shared/lib/systemWords.mjs";
import { findCompiler } from "./compiler.mjs";
import { headers, installAside } from "./node.mjs";
import { dataFolder, isCheckout, modulesOf, sqliteFolder, versions } from "./places.mjs";
import { attempt, lastLines, say } from "./process.mjs";
import { putInPlace } from "../../shared/lib/putInPlace.mjs";

const binding = () => join(sqliteFolder(), "better_sqlite3.node");

/** Opens a database, writes and reads: only that shows that a build is one (npm reports success having built nothing). */
const proof = `
const [, name, nativeBinding] = process.argv;
const Database = require(name);
const database = new Database(":memory:", nativeBinding === undefined ? {} : { nativeBinding });
database.exec("create table step(n integer primary key, reward real)");
database.prepare("insert into step values (?, ?)").run(1, 0.5);
if (database.prepare("select reward from step where n = 1").get().reward !== 0.5) process.exit(3);
`;
const proves = (root, name, file) =>
  attempt(process.execPath, ["-e", proof, name, ...(file === undefined ? [] : [file])], { cwd: root });

async function build(root) {
  const nodedir = await headers();
  say("building SQLite (about a minute, once for this Node)");
  const env = { JOBS: "max", ...(nodedir === undefined ? {} : { npm_config_nodedir: nodedir }) };
  // A linked node_modules belongs to another folder, and npm works in the folder that owns it.
  const owner = join(realpathSync(modulesOf(root)), "..");
  return attempt("npm", ["rebuild", "better-sqlite3", "--ignore-scripts=false", "--loglevel=error"], {
    cwd: owner,
    env,
  });
}

/** Keeps the built binding where every checkout finds it. */
function keep(root) {
  const built = join(modulesOf(root), "better-sqlite3", "build", "Release", "better_sqlite3.node");
  if (!existsSync(built)) return false;
  mkdirSync(sqliteFolder(), { recursive: true });
  copyFileSync(built, `${binding()}.${process.pid}`);
  putInPlace(`${binding()}.${process.pid}`, binding());
  return true;
}

/** Puts libsql, which comes prebuilt, next to the packages of `root` and opens a database with it. */
export async function installLibsql(root) {
  const folder = join(dataFolder(), "native", `libsql-${versions.libsql}`);
  const installed = join(folder, "node_modules", "libsql");
  if (!existsSync(installed)) await installAside(folder, `libsql@${versions.libsql}`, "installing libsql");
  const link = join(modulesOf(root), "libsql");
  rmSync(link, { force: true, recursive: true });
  symlinkSync(installed, link, "junction");
  return proves(root, "libsql");
}

/** The last resort works everywhere, as the package carries it, and is slower. */
const carried = (reason, mend) => ({ driver: "none", reason, ...(mend === undefined ? {} : { mend }) });

async function fallBack(root, output) {
  say(`better-sqlite3 could not be built; taking libsql ${versions.libsql} instead\n${lastLines(output, 6)}`);
  const reason = "better-sqlite3 could not be built: no working C++ compiler";
  const { status } = await installLibsql(root).catch(() => ({ status: 1 }));
  return status === 0
    ? { driver: "libsql", reason, mend: installCommand("compiler") }
    : carried("neither better-sqlite3 nor libsql works here", installCommand("compiler"));
}

/** Of a package: what npm has brought, else what is carried; it compiles nothing. */
async function setUpPrebuilt(root) {
  if (!existsSync(join(modulesOf(root), "libsql"))) return carried("there is no npm to install libsql with");
  const { status, output } = await proves(root, "libsql");
  return status === 0
    ? { driver: "libsql", reason: "it comes built" }
    : carried(`libsql does not open a database: ${lastLines(output, 1).trim()}`);
}

async function setUpBuilt(root) {
  if (existsSync(binding())) {
    if ((await proves(root, "better-sqlite3", binding())).status === 0)
      return { driver: "better-sqlite3", reason: "built for this Node" };
    rmSync(binding(), { force: true });
  }
  // Something built under another Node would hide a failure: what lies there afterwards is this build's.
  rmSync(join(modulesOf(root), "better-sqlite3", "build"), { recursive: true, force: true });
  const tried =
    process.env.GRADUS_WITHOUT === undefined || findCompiler() !== undefined
      ? await build(root)
      : { status: 1, output: "no compiler" };
  if (!keep(root)) return fallBack(root, tried.output);
  const { status, output } = await proves(root, "better-sqlite3", binding());
  if (status === 0) return { driver: "better-sqlite3", reason: "built for this Node" };
  rmSync(binding(), { force: true });
  return fallBack(root, output);
}

/** Makes SQLite work for the packages of `root`; returns the record's entry. */
export const setUpSqlite = (root) => (isCheckout ? setUpBuilt(root) : setUpPrebuilt(root));
