/** The step that a verdict names is the first at which the change shows, and not its middle. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { changeIn } from "../../../../server/analysis/verdict/change.ts";
import { level, noise, ramp, recordOf, timelineOf, verdict, type Sketch } from "./support.ts";

const values = (from: number, to: number, span: readonly [number, number], spread: number): number[] =>
  Array.from({ length: 300 }, (_, step) => ramp(from, to, span, spread)(step));

test("a change is found where it is, sharp or slow, and none in noise", () => {
  assert.deepEqual(changeIn(values(0.4, 0.1, [149, 150], 0.02)), { begin: 149, end: 150 });
  for (const [begin, end] of [
    [150, 170],
    [150, 250],
  ] as const) {
    const found = changeIn(values(0.4, 0.1, [begin, end], 0.05))!;
    assert.ok(Math.abs(found.begin - begin) <= 5, `begins at ${found.begin}`);
    assert.ok(Math.abs(found.end - end) <= 5, `ends at ${found.end}`);
  }
  assert.equal(changeIn(values(0.4, 0.4, [0, 1], 0.1)), null);
  assert.equal(changeIn([]), null);
});

const imported = { imported: true, config: {} } as const;
const taken = (begin: number, end: number, spread: number): Sketch => ({
  steps: 300,
  metrics: {
    "reward/format": ramp(0.2, 1, [begin, end], spread),
    "reward/correct": ramp(0.4, 0.1, [begin, end], spread),
    "reward/total": (step) => ramp(0.6, 1.1, [begin, end], spread)(step) + 0.01 * noise(step),
  },
  record: imported,
});

test("a collapse that goes on for steps says from which to which, and a sharp one at which", () => {
  const said = (begin: number, end: number, spread: number): (number | null)[] => {
    const found = /^Collapsed (?:at step (\d+)|from step (\d+) to (\d+))/.exec(
      verdict(taken(begin, end, spread)).headline,
    )!;
    return found.slice(1).map((one) => (one === undefined ? null : Number(one)));
  };
  assert.deepEqual(said(149, 150, 0.02), [150, null, null]);
  for (const [begin, end] of [
    [150, 170],
    [150, 250],
  ] as const) {
    const [at, from, to] = said(begin, end, 0.05);
    assert.equal(at, null);
    assert.ok(Math.abs(from! - begin - 1) <= 6, `from ${from}`);
    assert.ok(Math.abs(to! - end) <= 6, `to ${to}`);
  }
});

test("numbers that are nowhere in a log say what they are means of", () => {
  assert.match(
    verdict(taken(100, 150, 0.02)).headline,
    /: `format` 0\.\d+ → \d\.\d+ while `correct` fell 0\.\d+ → 0\.\d+ \(means of the first and the last 10 steps\)\.$/,
  );
});

test("an early evaluation does not date what falls after it", () => {
  const evaluations = [-1, 49].map((step) => ({
    step,
    role: step < 0 ? ("first" as const) : ("periodic" as const),
    metrics: { "eval/pass@1": step < 0 ? 0.5 : 0.49 },
  }));
  const { since } = timelineOf(recordOf({ ...taken(100, 120, 0.02), evaluations })).spans.at(-1)!.finding;
  assert.ok(Math.abs(since! - 101) <= 2, String(since));
});

test("a hack and an entropy that rises begin where they begin to rise", () => {
  const held = [-1, 99, 199].map((step) => ({
    step,
    role: "periodic" as const,
    metrics: { "eval/pass@1": 0.4 },
  }));
  const slow: Sketch = {
    steps: 300,
    metrics: {
      "reward/correct": level(0.4),
      "reward/correct/weight": () => 1,
      "reward/brevity": ramp(0.1, 0.9, [150, 250]),
      "reward/brevity/weight": () => 1,
      "reward/total": ramp(0.5, 1.3, [150, 250]),
      "groups/success_rate": level(0.4),
      "policy/entropy": level(1),
    },
    evaluations: held,
  };
  const hacked = verdict(slow);
  assert.equal(hacked.state, "hacking");
  assert.ok(Math.abs(hacked.since! - 151) <= 8, String(hacked.since));
  const noisy = verdict({
    ...slow,
    metrics: {
      ...slow.metrics,
      "reward/brevity": level(0.1),
      "policy/entropy": ramp(1, 3.5, [150, 250], 0.05),
    },
  });
  assert.equal(noisy.state, "unstable");
  assert.ok(Math.abs(noisy.since! - 151) <= 8, String(noisy.since));
});
