import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Claim } from "../../../bench/curriculum/claim.ts";
import { findingsOf, verdictText } from "../../../bench/curriculum/findings.ts";
import { hoursOfClaim, looksOf, pilotSeeds, planOf, seedsFor } from "../../../bench/curriculum/plan.ts";
import { nextJob, type Job } from "../../../bench/curriculum/queue.ts";
import { evidence, keepResult, latest, readResults, type Result } from "../../../bench/curriculum/result.ts";

const claim = (id: string, own: string): Claim => ({
  ...{ id, paper: "p", says: "s", differs: "d", simulated: [], looks: "of the pilot" },
  own: { name: own, label: own },
  other: { name: "base", label: "base" },
  real: [
    {
      ...{ what: "success", paper: "higher", scale: "difference", direction: "more", margin: 0.02 },
      effect: (ours, theirs) => ours.points[1]!.arms["a"]! - theirs.points[1]!.arms["a"]!,
    },
  ],
});

interface Run {
  readonly pilot?: true;
  readonly seconds?: number;
}
const made = (side: string, seed: number, score: number, { pilot, seconds = 60 }: Run = {}): Result => ({
  ...{ kind: "real", side, seed, fingerprint: side, date: "2026-01-01", machine: "m", version: "0", seconds },
  ...(pilot && { pilot }),
  groups: { drawn: 1, admitted: 1, mixed: 1 },
  points: [0, score].map((a, step) => ({ step, rollouts: 0, written: 0, trained: 0, arms: { a } })),
});
/** Effects of a pilot: −0.02, −0.01, 0, 0.01, 0.02, with a standard deviation of 0.0158. */
const piloted = (side: string, more: Run = {}): Result[] =>
  pilotSeeds.flatMap((seed, i) => [
    made(side, seed, 0.5 + 0.01 * (i - 2), { ...more, pilot: true }),
    made("base", seed, 0.5, { ...more, pilot: true }),
  ]);

const order = { fingerprintOf: (side: string): string => side };

test("so many seeds that the interval is as wide as the margin: by the printed t of each number", () => {
  // t · s/√n with t from the tables: 2.776 at 5, 2.571 at 6, 2.447 at 7, 2.093 at 20, 2.101 at 19.
  assert.equal(seedsFor(0.0158114, 0.02), 5);
  assert.equal(seedsFor(0.02, 0.02), 7, "2.447 · 0.02/√7 = 0.0185, 2.571 · 0.02/√6 = 0.0210");
  assert.equal(seedsFor(0.0427, 0.02), 20, "2.093/√20 = 0.468 ≤ 0.02/0.0427 < 2.101/√19 = 0.482");
  assert.equal(seedsFor(0, 0.02), 5, "never fewer than five");
});

test("a pilot says at how many seeds a claim is decided, within the hours that a claim may cost", () => {
  const own = claim("one", "ours");
  assert.deepEqual(looksOf(own, piloted("ours").slice(2)), [], "not before it has ended");
  assert.deepEqual(planOf(own, piloted("ours")), { wanted: 5, seeds: 5 });
  const wide = piloted("ours").map((one) => ({
    ...one,
    points: one.points.map((point) => ({ ...point, arms: { a: (point.arms["a"]! - 0.5) * 20 + 0.5 } })),
  }));
  const slow = wide.map((one) => ({ ...one, seconds: 400 }));
  assert.equal(planOf(own, slow)?.seeds, Math.floor((hoursOfClaim * 3600) / 800));
  assert.ok(planOf(own, slow)!.wanted > 900);
  const waited = slow.map((one, i) => (i < 2 ? one : { ...one, seconds: 4000 }));
  assert.equal(planOf(own, waited)?.seeds, planOf(own, slow)?.seeds, "what a run waited costs nothing");
});

test("what a pilot measured is no evidence", () => {
  const own = claim("one", "ours");
  const all = piloted("ours");
  const [found] = findingsOf(own, latest(evidence(all)), all);
  assert.equal(found?.interval, undefined);
  const run = [101, 102].flatMap((seed) => [made("ours", seed, 0.6), made("base", seed, 0.5)]);
  const more = [...all, ...run, made("ours", 3, 0.9), made("base", 3, 0.1)];
  const [early] = findingsOf(own, latest(evidence(more)), more);
  assert.equal(early?.interval?.seeds, 2, "and seeds of other claims are not, either");
  assert.equal(verdictText(early!), "too early: decided at 5 seeds");
});

/** Runs what comes next until nothing does, or until so many were run. */
function queue(claims: readonly Claim[], all: Result[], most = Infinity, hours?: number): Job[] {
  const done: Job[] = [];
  while (done.length < most) {
    const job = nextJob(claims, all, { ...order, ...(hours !== undefined && { hours }) });
    if (job === undefined) break;
    done.push(job);
    const score = job.pilot ? 0.5 + 0.01 * (job.seed - 1003) : 0.5;
    all.push(made(job.side, job.seed, job.side === "base" ? 0.5 : score, job.pilot ? { pilot: true } : {}));
  }
  return done;
}

test("pilots come first, then each claim seed by seed; a queue that stopped anywhere goes on as if it had not", () => {
  const claims = [claim("one", "ours"), claim("two", "theirs")];
  const whole = queue(claims, []);
  assert.equal(whole.length, 3 * 5 + 3 * 5, "three sides, the base once for both");
  assert.ok(whole.slice(0, 15).every(({ pilot, seed }) => pilot && seed > 1000));
  assert.deepEqual(
    whole.slice(15, 19).map(({ side, seed }) => `${side} ${seed}`),
    ["ours 101", "base 101", "ours 102", "base 102"],
  );
  for (const stop of [1, 7, 15, 22, 29]) {
    const kept: Result[] = [];
    const before = queue(claims, kept, stop);
    assert.deepEqual([...before, ...queue(claims, kept)], whole, `stopped after ${stop}`);
  }
});

test("a claim stops at what it may cost, and another goes on", () => {
  const claims = [claim("one", "ours"), claim("two", "theirs")];
  const all = [...piloted("ours"), ...piloted("theirs")];
  // Two minutes a seed: after the second one claim has cost more than three.
  const jobs = queue(claims, all, Infinity, 3 / 60);
  assert.equal(jobs.filter(({ side }) => side === "ours").length, 2);
  assert.equal(jobs.filter(({ side }) => side === "theirs").length, 2);
});

test("a line that a kill cut off is not read, and the next one takes its place", () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-results-"));
  try {
    const file = join(folder, "results.jsonl");
    keepResult(file, made("ours", 1, 0.5));
    const cut = JSON.stringify(made("ours", 2, 0.5)).slice(0, 40);
    appendFileSync(file, cut);
    assert.deepEqual(
      readResults(file).map(({ seed }) => seed),
      [1],
    );
    keepResult(file, made("ours", 3, 0.5));
    assert.deepEqual(
      readResults(file).map(({ seed }) => seed),
      [1, 3],
    );
    assert.equal(readFileSync(file, "utf8").split("\n").length, 3);
    writeFileSync(file, "{}\n");
    assert.throws(() => readResults(file), /results\.jsonl:1/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
