import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { claims } from "../../../bench/curriculum/claims/index.ts";
import {
  earlierOf,
  findingsOf,
  seedsText,
  verdictText,
  type Finding,
} from "../../../bench/curriculum/findings.ts";
import { page } from "../../../bench/curriculum/page.ts";
import { latest, readResults, type Result } from "../../../bench/curriculum/result.ts";
import { sideFile, sideFingerprint } from "../../../bench/curriculum/settings.ts";
import { simulatedRun } from "../../../bench/curriculum/simulated.ts";
import { loadConfig } from "../../../server/rules/load.ts";

const results = readResults("bench/curriculum/results.jsonl");

test("docs/claims.md is what the committed results say", async () => {
  assert.equal(readFileSync("docs/claims.md", "utf8"), await page(results));
  assert.ok(results.length > 0);
});

test("every side is a config without an error, and every config is somebody's side or start", () => {
  const files = readdirSync("bench/curriculum/sides").filter((file) => file.endsWith(".gradus.yaml"));
  const names = files.map((file) => file.slice(0, -".gradus.yaml".length));
  const used = new Set(claims.flatMap(({ own, other }) => [own.name, other.name]));
  assert.deepEqual(
    names.filter((name) => !name.startsWith("warmUp")),
    [...used].sort(),
  );
  for (const name of names) {
    const { diagnostics } = loadConfig(sideFile(name));
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    assert.deepEqual(errors, [], name);
  }
});

test("sides of a claim differ, and what decides a result is more than a name", () => {
  for (const { own, other } of claims)
    assert.notEqual(sideFingerprint(own.name, 0), sideFingerprint(other.name, 0));
  assert.notEqual(sideFingerprint("sec", 0), sideFingerprint("sec", 1));
});

test("a simulated run is a function of side and seed", async () => {
  for (const side of ["pcl", "ghpo", "reverseStarts", "drive"]) {
    const [one, again, another] = await Promise.all([1, 1, 2].map((seed) => simulatedRun(side, seed, 20)));
    assert.deepEqual(one!.points, again!.points);
    assert.notDeepEqual(one!.points, another!.points);
    assert.deepEqual(
      one!.points.map(({ step }) => step),
      // The second stage of DRIVE has half as many steps, of twice the rollouts.
      side === "drive" ? [0, 10] : [0, 10, 20],
    );
    assert.ok(one!.groups.mixed <= one!.groups.admitted && one!.groups.admitted <= one!.groups.drawn);
  }
});

const made = (side: string, seed: number, fingerprint: string, twelve: number): Result => ({
  ...{ kind: "real", side, seed, fingerprint, date: "2026-01-01", machine: "m", version: "0", seconds: 1 },
  groups: { drawn: 1, admitted: 1, mixed: 1 },
  points: [0, 1].map((step) => ({ step, rollouts: 0, written: 0, trained: 0, arms: { twelve } })),
});

const ghpo = claims.find(({ id }) => id === "ghpo")!;
const realOf = (...[claim, now, all]: Parameters<typeof findingsOf>): Finding =>
  findingsOf(claim, now, all).find(({ kind }) => kind === "real")!;
/** So many seeds of GHPO, whose effect is about 0.2, and as many without. */
const seedsOf = (count: number, fingerprint = "g"): Result[] =>
  Array.from({ length: count }, (_, i) => [
    made("hard", i + 1, "new", 0.1 * (i + 1)),
    made("ghpo", i + 1, fingerprint, 0.1 * (i + 1) + 0.2 + 0.01 * (i % 3)),
  ]).flat();

test("results of other settings count no more, and seeds that one side lacks do not either", () => {
  const all = [made("hard", 1, "old", 0.9), ...seedsOf(9).slice(0, -1)];
  const found = realOf(ghpo, latest(all), all);
  assert.equal(found.interval?.seeds, 8);
  assert.ok(Math.abs((found.interval?.mean ?? 0) - 0.20875) < 1e-12);
});

test("a claim is decided at the seeds that its source names, not before", () => {
  const verdict = (count: number): string => verdictText(realOf(ghpo, seedsOf(count)));
  assert.deepEqual(ghpo.looks, [9]);
  assert.equal(verdict(8), "too early: decided at 9 seeds");
  assert.equal(verdict(9), "shows");
  assert.equal(realOf(ghpo, seedsOf(9)).looks, 1);
});

test("more seeds than planned, and settings that were tried before, widen the interval and are listed", () => {
  assert.equal(realOf(ghpo, seedsOf(10)).looks, 2);
  const all = [...seedsOf(9, "first"), ...seedsOf(9)];
  const [now, alone] = [realOf(ghpo, latest(all), all), realOf(ghpo, latest(all))];
  assert.equal(now.looks, 2);
  assert.ok(now.interval!.low < alone.interval!.low);
  const earlier = earlierOf(ghpo, latest(all), all);
  assert.deepEqual(
    earlier.map(({ kind, why, interval }) => [kind, why, interval?.seeds]),
    [["real", "settings first of ghpo", 9]],
  );
});

test("a seed without a ratio is named", () => {
  const sec = claims.find(({ id }) => id === "sec")!;
  const all = [1, 2, 3].flatMap((seed) => [
    made("sec", seed, "s", 0.2),
    made("uniform", seed, "u", seed === 2 ? 0 : 0.1),
  ]);
  const found = realOf(sec, all);
  assert.deepEqual(found.dropped, [2]);
  assert.match(seedsText(found), /real, 2 of 3 \(without seed 2/);
});

test("only real runs show, and what replaces a method has no verdict", () => {
  for (const claim of claims)
    for (const found of findingsOf(claim, latest(results), results))
      if (found.kind === "simulated") {
        assert.doesNotMatch(verdictText(found), /shows/);
        if (claim.standIn !== undefined) assert.equal(found.verdict, undefined);
      }
  assert.deepEqual(
    claims.filter(({ standIn }) => standIn !== undefined).map(({ id }) => id),
    ["pcl", "gain-rl"],
  );
});
