// Do the papers' claims of curricula and guidance show here? Measured against claimed, simulated and by real training.
//   npm run bench -- curriculum [--claims sec,dump] [--seeds N] [--hours N] [--simulated | --real] [--again SIDE] [--as-is] [--write]
// Each run that ends is a line of bench/curriculum/results.jsonl and is not made again; --write makes docs/claims.md of them, --as-is of those that are there.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "../shared/lib/errors.ts";
import { claims } from "./curriculum/claims/index.ts";
import { command } from "./curriculum/gradus.ts";
import { findingsOf, shown } from "./curriculum/findings.ts";
import { page } from "./curriculum/page.ts";
import { looksOf } from "./curriculum/plan.ts";
import { nextJob, type Job } from "./curriculum/queue.ts";
import { realFingerprint, realRun } from "./curriculum/real.ts";
import { evidence, keepResult, latest, readResults, type Result } from "./curriculum/result.ts";
import { simulatedFingerprint, simulatedRun } from "./curriculum/simulated.ts";
import { measured } from "./report.ts";

const file = "bench/curriculum/results.jsonl";
const { values } = parseArgs({
  options: {
    claims: { type: "string", default: claims.map(({ id }) => id).join(",") },
    seeds: { type: "string" },
    hours: { type: "string" },
    simulated: { type: "boolean", default: false },
    real: { type: "boolean", default: false },
    again: { type: "string", multiple: true, default: [] },
    "as-is": { type: "boolean", default: false },
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

function positive(
  name: "seeds" | "hours",
  what: string,
  isRight: (value: number) => boolean,
): number | undefined {
  const text = values[name];
  if (text === undefined) return undefined;
  return isRight(Number(text)) ? Number(text) : wrong(`--${name} takes ${what}, not "${text}"`);
}
/** Undefined: as many as each claim is decided at. */
const asked = positive("seeds", "how many seeds, from 1", (value) => Number.isInteger(value) && value >= 1);
const hours = positive("hours", "the hours that a claim may cost, above 0", (value) => value > 0);
/** More seeds than were planned are a further look at the results, which is written down before it is taken. */
const unplanned = wanted.find(
  (claim) => asked !== undefined && asked > Math.max(0, ...looksOf(claim, readResults(file))),
);
if (unplanned !== undefined)
  wrong(
    unplanned.looks === "of the pilot"
      ? `${unplanned.id} is decided at as many seeds as its pilot says: leave --seeds out, or ask for fewer.`
      : `${unplanned.id} is decided at ${unplanned.looks.join(" and ")} seeds. Add ${asked} to the looks of its claim before you run more.`,
  );
const simulatedSeeds = 20;

/** Lines that are there, without those that are to be made again. */
const before = readResults(file).length;
const counting = (): Result[] =>
  readResults(file).filter(({ side }, i) => i >= before || !again.includes(side));

async function simulateAll(): Promise<void> {
  const simulated = wanted.filter((claim) => claim.simulated.length > 0);
  for (const side of new Set(simulated.flatMap(({ own, other }) => [own.name, other.name])))
    for (let seed = 1; seed <= simulatedSeeds; seed++) {
      const fingerprint = simulatedFingerprint(side);
      const is = (one: Result): boolean =>
        one.kind === "simulated" && one.side === side && one.seed === seed && one.fingerprint === fingerprint;
      if (!counting().some(is)) keepResult(file, await simulatedRun(side, seed));
    }
}

/** Sides that failed are left alone until the next start. @returns what failed */
async function trainAll(): Promise<string[]> {
  const store = mkdtempSync(join(tmpdir(), "gradus-curriculum-"));
  mkdirSync(join(store, ".gradus"));
  const tidy = async (): Promise<void> => {
    await command("daemon", "stop", "--force", "--store", store, "--json");
    rmSync(store, { recursive: true, force: true });
  };
  let stopped = false;
  const stop = (): void => {
    stopped = true;
    void tidy().finally(() => process.exit(1));
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
  const failed = new Set<string>();
  const name = ({ side, seed }: Job): string => `${side}, seed ${seed}`;
  const next = (): Job | undefined =>
    nextJob(wanted, counting(), {
      fingerprintOf: realFingerprint,
      seeds: asked,
      hours,
      without: (job) => stopped || failed.has(name(job)),
    });
  try {
    for (let job = next(); job !== undefined; job = next())
      try {
        const one = await realRun(job.side, job.seed, store);
        keepResult(file, job.pilot ? { ...one, pilot: true } : one);
        console.error(`${name(job)}${job.pilot ? " of the pilot" : ""}: ${one.seconds} s`);
      } catch (error) {
        failed.add(name(job));
        console.error(messageOf(error));
      }
  } finally {
    await tidy();
  }
  return [...failed];
}

if (!values.real && !values["as-is"]) await simulateAll();
const failed = values.simulated || values["as-is"] ? [] : await trainAll();
const all = readResults(file);
const results = latest(evidence(all));
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
