// Do the papers' claims of curricula and guidance show here? Measured against claimed, simulated and by real training.
//   npm run bench -- curriculum [--claims sec,dump] [--seeds N] [--simulated | --real] [--again SIDE] [--write]
// Each run that ends is a line of bench/curriculum/results.jsonl and is not made again; --write makes docs/claims.md of them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "../shared/lib/errors.ts";
import { claims } from "./curriculum/claims/index.ts";
import { command } from "./curriculum/gradus.ts";
import { findingsOf, shown } from "./curriculum/findings.ts";
import { page } from "./curriculum/page.ts";
import { realFingerprint, realRun } from "./curriculum/real.ts";
import { keepResult, latest, readResults, type Result } from "./curriculum/result.ts";
import { simulatedFingerprint, simulatedRun } from "./curriculum/simulated.ts";
import { measured } from "./report.ts";

const file = "bench/curriculum/results.jsonl";
const { values } = parseArgs({
  options: {
    claims: { type: "string", default: claims.map(({ id }) => id).join(",") },
    seeds: { type: "string" },
    simulated: { type: "boolean", default: false },
    real: { type: "boolean", default: false },
    again: { type: "string", multiple: true, default: [] },
    write: { type: "boolean", default: false },
  },
});

function wrong(what: string): never {
  console.error(what);
  process.exit(2);
}

/** The names of a list, each of which must be there. */
function known(what: string, names: readonly string[], there: readonly string[]): readonly string[] {
  const other = names.find((name) => !there.includes(name));
  return other === undefined ? names : wrong(`there is no ${what} ${other}; there are ${there.join(", ")}`);
}

const ids = known(
  "claim",
  values.claims.split(","),
  claims.map(({ id }) => id),
);
const wanted = claims.filter(({ id }) => ids.includes(id));
const sides = [...new Set(wanted.flatMap(({ own, other }) => [own.name, other.name]))];
const again = known("side", values.again, sides);
/** Undefined: as many as each claim is decided at. */
const asked = values.seeds === undefined ? undefined : Number(values.seeds);
if (asked !== undefined && (!Number.isInteger(asked) || asked < 1))
  wrong(`--seeds takes how many seeds, from 1, not "${values.seeds}"`);
/** More seeds than were planned are a further look at the results, which is written down before it is taken. */
const unplanned = wanted.find(({ looks }) => asked !== undefined && asked > Math.max(...looks));
if (unplanned !== undefined)
  wrong(
    `${unplanned.id} is decided at ${unplanned.looks.join(" and ")} seeds. Add ${asked} to the looks of its claim before you run more.`,
  );
const seedsOf = (side: string): number =>
  asked ??
  Math.max(
    ...wanted.filter(({ own, other }) => [own.name, other.name].includes(side)).flatMap(({ looks }) => looks),
  );
const simulatedSeeds = 20;

/** Whether a run with the present settings is there. */
function has(kind: Result["kind"], side: string, seed: number, fingerprint: string): boolean {
  if (again.includes(side)) return false;
  return readResults(file).some(
    (one) => one.kind === kind && one.side === side && one.seed === seed && one.fingerprint === fingerprint,
  );
}

async function simulateAll(): Promise<void> {
  for (const side of sides)
    for (let seed = 1; seed <= simulatedSeeds; seed++)
      if (!has("simulated", side, seed, simulatedFingerprint(side)))
        keepResult(file, await simulatedRun(side, seed));
}

/** Seed by seed, so that whenever it is stopped the sides have equally many. @returns what failed */
async function trainAll(): Promise<string[]> {
  const store = mkdtempSync(join(tmpdir(), "gradus-curriculum-"));
  mkdirSync(join(store, ".gradus"));
  const failed: string[] = [];
  try {
    for (let seed = 1; seed <= Math.max(...sides.map(seedsOf)); seed++)
      for (const side of sides) {
        if (seed > seedsOf(side) || has("real", side, seed, realFingerprint(side))) continue;
        try {
          const one = await realRun(side, seed, store);
          keepResult(file, one);
          console.error(`${side}, seed ${seed}: ${one.seconds} s`);
        } catch (error) {
          failed.push(side);
          console.error(messageOf(error));
        }
      }
  } finally {
    await command("daemon", "stop", "--force", "--store", store, "--json");
    rmSync(store, { recursive: true, force: true });
  }
  return failed;
}

if (!values.real) await simulateAll();
const failed = values.simulated ? [] : await trainAll();
const all = readResults(file);
const results = latest(all);
for (const claim of wanted)
  for (const found of findingsOf(claim, results, all)) {
    const what = `${claim.id}, ${found.kind}: ${found.what}`;
    if (found.interval === undefined) {
      console.log(`${what}: not run`);
      continue;
    }
    const ratio = found.scale === "ratio";
    measured({
      what,
      value: ratio ? Math.exp(found.interval.mean) : found.interval.mean,
      unit: ratio ? "×" : "",
      setting: `${shown(found)}; the paper: ${found.paper}`,
    });
  }
if (values.write) writeFileSync("docs/claims.md", await page(readResults(file)));
if (failed.length > 0) process.exitCode = 1;
