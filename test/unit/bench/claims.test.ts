import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { claims } from "../../../bench/curriculum/claims/index.ts";
import { findingsOf } from "../../../bench/curriculum/findings.ts";
import { page } from "../../../bench/curriculum/page.ts";
import { latest, readResults, type Result } from "../../../bench/curriculum/result.ts";
import { sideFile, sideFingerprint } from "../../../bench/curriculum/settings.ts";
import { simulatedRun } from "../../../bench/curriculum/simulated.ts";
import { loadConfig } from "../../../server/config/index.ts";

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

test("results of other settings count no more, and seeds that one side lacks do not either", () => {
  const all = [
    made("hard", 1, "old", 0.9),
    made("hard", 1, "new", 0.1),
    made("hard", 2, "new", 0.2),
    made("hard", 3, "new", 0.3),
    made("ghpo", 1, "g", 0.3),
    made("ghpo", 2, "g", 0.4),
  ];
  const ghpo = claims.find(({ id }) => id === "ghpo")!;
  const [found] = findingsOf(ghpo, latest(all)).filter(({ kind }) => kind === "real");
  assert.equal(found?.interval?.seeds, 2);
  assert.ok(Math.abs((found?.interval?.mean ?? 0) - 0.2) < 1e-12);
  assert.equal(found?.verdict, "shows");
});
