import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { drawn, ticksTo } from "../../../bench/curriculum/figures/draw.ts";
import { listed, valueOf, type Figure } from "../../../bench/curriculum/figures/figure.ts";
import { figureNames, figureOf } from "../../../bench/curriculum/figures/figures.ts";
import { readResults } from "../../../bench/curriculum/result.ts";

const file = "bench/curriculum/results.jsonl";
const results = readResults(file);
const there = figureNames.flatMap((name) => figureOf(name, results) ?? []);

interface Row {
  readonly kind: string;
  readonly side: string;
  readonly seed: number;
  readonly fingerprint: string;
  readonly pilot?: boolean;
  readonly points: readonly { readonly step: number; readonly arms: Readonly<Record<string, number>> }[];
}
/** Runs of a side with its last settings, from the lines themselves. */
function runsOf(side: string): Map<number, Row> {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const rows = lines.map((line) => JSON.parse(line) as Row);
  const own = rows.filter((row) => row.kind === "real" && row.side === side && !row.pilot);
  const last = own.at(-1)!.fingerprint;
  return new Map(own.filter(({ fingerprint }) => fingerprint === last).map((row) => [row.seed, row]));
}
/** Student's t for 95 %, by degrees of freedom, from a printed table. */
const printed: Readonly<Record<number, number>> = { 4: 2.776445, 8: 2.306004, 13: 2.160369, 19: 2.093024 };

/** As in a textbook: x̄ ± t √(Σ (x − x̄)² / (n (n − 1))). */
function byHand(values: readonly number[]): [mean: number, low: number, high: number] {
  const n = values.length;
  let sum = 0;
  for (const value of values) sum += value;
  let squares = 0;
  for (const value of values) squares += (value - sum / n) ** 2;
  const half = printed[n - 1]! * Math.sqrt(squares / (n * (n - 1)));
  return [sum / n, sum / n - half, sum / n + half];
}

const trained = ["four", "six", "eight", "ten"];
const cases: readonly [
  name: string,
  side: string,
  other: string,
  label: string,
  arms: readonly string[],
  seeds: number,
][] = [
  ["sec", "sec", "uniform", "SEC", ["eight"], 20],
  ["dump", "uniform", "dump", "uniform", ["ten"], 14],
  ["balanced-filtering", "balanced", "uniform", "balanced filtering", trained, 5],
  ["gain-rl", "gain", "pool", "GAIN-RL", trained, 5],
  ["ghpo", "hard", "ghpo", "GRPO", ["twelve"], 9],
];

test("what a picture says of a point is the mean and t interval of the lines, computed by hand", () => {
  for (const [name, side, other, label, arms, seeds] of cases) {
    const [own, beside] = [runsOf(side), runsOf(other)];
    const paired = [...own].filter(([seed]) => beside.has(seed)).map(([, row]) => row);
    assert.equal(paired.length, seeds, name);
    const svg = drawn(figureOf(name, results)!);
    for (const at of [0, 5, 10]) {
      const values = paired.map(({ points }) => {
        const picked = arms.map((arm) => points[at]!.arms[arm]!);
        return picked.reduce((sum, value) => sum + value, 0) / picked.length;
      });
      const [mean, low, high] = byHand(values);
      const said = `<title>${label}, updates ${paired[0]!.points[at]!.step}: ${mean.toFixed(3)} (${Math.max(0, low).toFixed(3)} to ${Math.min(1, high).toFixed(3)}), ${seeds} seeds</title>`;
      assert.ok(svg.includes(said), `${name}: no ${said}`);
    }
  }
});

const small: Figure = {
  ...{ kind: "lines", name: "n", title: "a < b", after: "p", x: "updates", y: "success", scale: "linear" },
  panels: [
    { title: "", series: [{ label: "one", values: [valueOf(0, [0.1, 0.3]), valueOf(10, [0.5, 0.5])] }] },
  ],
};

test("a point stands where its axis says, and its band as high as its interval", () => {
  const svg = drawn(small);
  const circles = [...svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [
    Number(x),
    Number(y),
  ]);
  const rules = [...svg.matchAll(/text-anchor="end" fill="[^"]*">([\d.]+)</g)].map(([, tick]) =>
    Number(tick),
  );
  const heights = [...svg.matchAll(/<line x1="46.0" y1="([\d.]+)" x2="546.0"/g)].map(([, y]) => Number(y));
  const level = (y: number): number => {
    const [bottom, top] = [heights[rules.indexOf(0)]!, heights[rules.length - 1]!];
    return ((bottom - y) / (bottom - top)) * rules.at(-1)!;
  };
  assert.ok(Math.abs(level(circles[0]![1]!) - 0.2) < 0.005);
  assert.ok(Math.abs(level(circles[1]![1]!) - 0.5) < 0.005);
  assert.equal(circles[1]![0]! - circles[0]![0]!, 500, "the width of a single panel");
  const [, edge = ""] = /<polygon points="([^"]*)"/.exec(svg) ?? [];
  const [first, , , last] = edge.split(" ").map((pair) => level(Number(pair.split(",")[1])));
  // 0.2 ± 12.7062 · 0.1, cut at what a success can be.
  assert.ok(Math.abs(first! - 1) < 0.005 && Math.abs(last!) < 0.005);
  assert.match(svg, /a &lt; b/);
  assert.match(svg, /one \(2 seeds\)/);
  assert.match(listed(small), /^one, updates 0: 0\.200 \(-1\.071 to 1\.471\), 2 seeds$/m);
});

test("bars have whiskers, and say their numbers", () => {
  const svg = drawn({
    ...{ kind: "bars", name: "n", title: "t", after: "p", y: "success" },
    bars: [{ label: "naive", value: valueOf(0, [0.4, 0.42, 0.44, 0.46, 0.48]) }],
  });
  // 0.44 ± 2.776445 · 0.0141421
  assert.match(svg, /<title>naive: 0\.440 \(0\.401 to 0\.479\), 5 seeds<\/title>/);
  assert.match(svg, />0\.440, 5 seeds</);
});

test("an axis has at most six round ticks, over everything", () => {
  for (const most of [0.03, 0.2, 0.61, 0.95, 1]) {
    const ticks = ticksTo(most);
    assert.ok(ticks.length <= 6 && ticks.at(-1)! >= most && ticks[0] === 0, String(most));
  }
});

test("five figures and more are committed as they are drawn from the committed results", () => {
  assert.ok(there.length >= 5);
  for (const name of figureNames) {
    const path = join("docs", "images", `claims-${name}.svg`);
    const figure = figureOf(name, results);
    assert.equal(existsSync(path), figure !== undefined, name);
    if (figure !== undefined) assert.equal(readFileSync(path, "utf8"), drawn(figure), name);
  }
});
