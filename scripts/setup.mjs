// Set-up: everything a checkout or an unpacked extension needs, each thing once, however often and by however many
// starters at once it is called. Dependency-free; progress on stderr, nothing on stdout (with --json: what was recorded).
//   node scripts/setup.mjs [--tests] [--again] [--json]
import { join } from "node:path";
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { slower } from "../shared/lib/systemWords.mjs";
import { bundle } from "./setup/bundle.mjs";
import { installPackages } from "./setup/dependencies.mjs";
import { couldBuildEngine, setUpEngine } from "./setup/engine.mjs";
import { withLock } from "./setup/lock.mjs";
import { checkNode, thisNode } from "./setup/node.mjs";
import { dataFolder, home, isCheckout, nativeRoot, recordFile, sha256, writeFile } from "./setup/places.mjs";
import { SetupError, endSteps, say, sideBySide, startSteps, step } from "./setup/process.mjs";
import { currentRecord, lockHash } from "./setup/stamp.mjs";
import { setUpSqlite } from "./setup/sqlite.mjs";
import { setUpTests } from "./setup/tests.mjs";

const lock = (name) => join(dataFolder(), "locks", `${name}.lock`);
const checkoutLock = () => lock(`checkout-${sha256(home).slice(0, 16)}`);

/** Natives are rebuilt for another Node only when the recorded one is gone: until then everything runs under that one. */
function settled(again) {
  const record = currentRecord(nativeRoot(), home);
  if (record === undefined || again) return undefined;
  return record.engine.backend === "wasm" && couldBuildEngine(record.engine) ? undefined : record;
}

async function buildNatives(engine) {
  const root = nativeRoot();
  // What is built lies in the user's data folder, for all checkouts: only one of them builds at a time.
  return withLock(
    lock("natives"),
    async () => {
      const [sqlite, built] = await sideBySide([setUpSqlite(root), setUpEngine(engine)]);
      const record = {
        format: 1,
        node: thisNode(),
        lock: lockHash(home),
        sqlite,
        engine: built,
        at: new Date().toISOString(),
      };
      writeFile(recordFile(root), `${JSON.stringify(record, null, 2)}\n`);
      return record;
    },
    { say },
  );
}

/**
 * Does what is missing. Returns what was recorded, with `tests` (see setup/tests.mjs) where they were asked for.
 * `engine` names another library than the one in use (see setup/engine.mjs). Throws SetupError with the person's next
 * action.
 */
export async function setUp({ tests = false, again = false, engine = {} } = {}) {
  checkNode();
  return withLock(
    checkoutLock(),
    async () => {
      const started = Date.now();
      const recorded = settled(again);
      if (recorded === undefined) {
        startSteps(2);
        step(1, "packages");
        await installPackages();
        step(2, `SQLite, the engine${isCheckout ? " and the bundle" : ""}, side by side`);
      }
      // SQLite is one file of C, and takes a processor for a minute: all else is done meanwhile.
      const [record, , found] = await sideBySide([
        recorded ?? buildNatives(engine),
        bundle(),
        tests ? withLock(lock("tests"), setUpTests, { say }) : undefined,
      ]);
      endSteps();
      if (recorded === undefined)
        say(
          `ready in ${Math.round((Date.now() - started) / 1000)} s: SQLite ${record.sqlite.driver === "none" ? "in WebAssembly" : `by ${record.sqlite.driver}`}, ${record.engine.backend === "native" ? record.engine.reason : `WebAssembly, ${slower}`}`,
        );
      return tests ? { ...record, tests: found } : record;
    },
    { say },
  );
}

/** Only what reads and writes text: packages and the bundle, neither an engine nor SQLite. */
export async function setUpBundle() {
  checkNode();
  await withLock(
    checkoutLock(),
    async () => {
      if (isCheckout) await installPackages();
      await bundle();
    },
    { say },
  );
}

/** Shows a failure the way set-up's callers do; returns the exit code. */
export function report(error) {
  say(error instanceof SetupError ? error.message : (error.stack ?? String(error)));
  if (error.fix !== undefined) say(`to fix it: ${error.fix}`);
  return 1;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  setUp({ tests: process.argv.includes("--tests"), again: process.argv.includes("--again") }).then(
    (record) => void (process.argv.includes("--json") && process.stdout.write(`${JSON.stringify(record)}\n`)),
    (error) => void (process.exitCode = report(error)),
  );
