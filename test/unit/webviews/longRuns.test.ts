/** What charts of long runs draw, column of pixels by column of pixels, against the raw points. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Series } from "../../../shared/protocol/protocol.ts";
import { mostBuckets } from "../../../shared/editor/runPanel.ts";
import { charts } from "../../../webviews/run/charts.ts";
import type { ChartModel, ChartLine } from "../../../webviews/shared/chartModel.ts";
import { pixelColumns } from "../../../webviews/shared/envelope.ts";
import { RunSeries } from "../../../webviews/shared/series.ts";
import { runAt, warmUp } from "../../webview/fakeRun.ts";
import { answered, longRun, spike, type Recorded } from "../../webview/longRun.ts";

const modelOf = (id: string, answer: readonly Series[], first = 0): ChartModel => {
  const series = new RunSeries();
  series.load(answer, 0, first);
  return charts.find((chart) => chart.id === id)!.model({ run: runAt(warmUp + 1), series, evaluations: [] });
};
const scale = (first: number, last: number, width: number) => (step: number) =>
  ((step - first) / Math.max(1, last - first)) * (width - 1);

/** Of each pixel column, the lowest and highest of the raw points in it. */
function bruteForce(value: Recorded[string], first: number, last: number, width: number) {
  const low = new Array<number>(width).fill(Number.POSITIVE_INFINITY);
  const high = new Array<number>(width).fill(Number.NEGATIVE_INFINITY);
  const xOf = scale(first, last, width);
  for (let step = first; step <= last; step++) {
    const here = value(step);
    if (here === undefined) continue;
    const x = Math.floor(xOf(step));
    low[x] = Math.min(low[x]!, here);
    high[x] = Math.max(high[x]!, here);
  }
  return { low, high };
}

/** Lowest and highest that a line draws in each pixel column: its spread, or the points themselves. */
function drawn(
  { steps, begins = steps }: ChartModel,
  line: ChartLine,
  xOf: (step: number) => number,
  width: number,
) {
  const own = { low: line.values, high: line.values };
  const { x, low, high } = pixelColumns({ begins, steps }, line.spread ?? own, xOf, [0, width - 1]);
  return new Map(x.map((at, i) => [at, { low: low[i]!, high: high[i]! }]));
}

const wholeRuns = new Map<number, readonly Series[]>();
function wholeRun(steps: number): readonly Series[] {
  const known = wholeRuns.get(steps) ?? answered(longRun(steps), 0, steps - 1);
  wholeRuns.set(steps, known);
  return known;
}

for (const steps of [100, 5_000, 1_000_000])
  for (const width of [420, 1_050])
    test(`${steps} points on ${width} pixels: lines reach as far as the raw points do, column by column`, () => {
      const run = longRun(steps);
      const answer = wholeRun(steps);
      const xOf = scale(0, steps - 1, width);
      const reach = Math.ceil(xOf(answer[0]!.width ?? 1) - xOf(0));
      for (const [id, metric] of [
        ["entropy", "policy/entropy"],
        ["update", "update/loss"],
      ] as const) {
        const model = modelOf(id, answer);
        const columns = drawn(model, model.lines[0]!, xOf, width);
        const raw = bruteForce(run[metric]!, 0, steps - 1, width);
        raw.low.forEach((low, x) => {
          if (low === Number.POSITIVE_INFINITY) return;
          const column = columns.get(x);
          assert.ok(column !== undefined, `${metric}: nothing is drawn in column ${x}`);
          assert.ok(column.low <= low && column.high >= raw.high[x]!, `${metric}: column ${x} is cut`);
          // A bucket across a border shows in both columns, and no farther.
          const near = (list: readonly number[]) => list.slice(Math.max(0, x - reach), x + reach + 1);
          assert.ok(column.low >= Math.min(...near(raw.low)), `${metric}: column ${x} reaches too low`);
          assert.ok(column.high <= Math.max(...near(raw.high)), `${metric}: column ${x} reaches too high`);
        });
      }
    });

for (const steps of [100, 5_000, 1_000_000])
  test(`${steps} steps: shares that sum to 1 are drawn as a flat top, phases as their mean time`, () => {
    const answer = wholeRun(steps);
    const groups = modelOf("groups", answer);
    assert.ok(groups.steps.length >= Math.min(steps, mostBuckets / 2));
    assert.equal(groups.lines.length, 3);
    for (const top of groups.lines[2]!.values) assert.ok(Math.abs(top! - 1) < 1e-9, String(top));
    const width = answer[0]!.width!;
    const times = modelOf("time", answer);
    const tops = times.lines.at(-1)!.values;
    times.steps.forEach((step, i) => {
      const begin = Math.floor(step / width) * width;
      const count = step - begin + 1;
      const evaluations = Math.floor(step / 50) - Math.floor((begin - 1) / 50);
      assert.ok(Math.abs(tops[i]! - (3 + (10 * evaluations) / count)) < 1e-9, `at step ${step}`);
    });
  });

test("a line joins its points, however seldom it was recorded next to others", () => {
  for (const steps of [100, 5_000]) {
    const { lines } = modelOf("update", wholeRun(steps));
    for (const line of lines)
      assert.ok(
        line.values.every((value) => value === null || Number.isFinite(value)),
        line.name,
      );
  }
});

test("one spike in a million points is seen at every zoom", () => {
  const run = { "policy/entropy": longRun(1_000_000)["policy/entropy"]! };
  const at = 654_321;
  for (let span = 1_000_000; span >= 2; span = Math.floor(span / 3)) {
    for (const share of [0.1, 0.5, 0.9]) {
      const first = Math.max(0, Math.floor(at - share * span));
      const last = Math.min(999_999, Math.max(first + span - 1, at));
      const model = modelOf("entropy", answered(run, first, last), first);
      const xOf = scale(first, last, 420);
      const column = drawn(model, model.lines[0]!, xOf, 420).get(Math.floor(xOf(at)));
      assert.equal(column?.high, spike, `steps ${first} to ${last}`);
      assert.ok(model.steps.length <= mostBuckets);
    }
  }
});

const close = (one: readonly (number | null)[] = [], other: readonly (number | null)[] = []): boolean =>
  one.length === other.length &&
  one.every((value, i) =>
    value === null || other[i] === null ? value === other[i] : Math.abs(value - other[i]!) < 1e-9,
  );
const liveStep = (run: Recorded, step: number) => ({
  step,
  attempt: 0,
  metrics: Object.fromEntries(
    Object.entries(run).flatMap(([metric, value]) => {
      const here = value(step);
      return here === undefined ? [] : [[metric, here]];
    }),
  ),
});

test("steps that are appended make the buckets that a load of all of them makes", () => {
  const run = longRun(1_000);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 0, max: 500 }), (loaded, more) => {
      const live = new RunSeries(64);
      live.load(answered(run, 0, loaded - 1, 64), 0);
      for (let step = Math.max(0, loaded - 3); step < loaded + more; step++) live.merge(liveStep(run, step));
      const whole = new RunSeries(64);
      whole.load(answered(run, 0, loaded + more - 1, 64), 0);
      assert.deepEqual(
        { names: live.names, width: live.width, last: live.last },
        { names: whole.names, width: whole.width, last: whole.last },
      );
      for (const name of whole.names) {
        const [one, other] = [live.column(name), whole.column(name)];
        assert.deepEqual(
          { steps: one.steps, begins: one.begins },
          { steps: other.steps, begins: other.begins },
          name,
        );
        for (const part of ["values", "low", "high"] as const) assert.ok(close(one[part], other[part]), name);
        assert.ok(close(live.latest(name, 10), whole.latest(name, 10)), name);
        assert.ok(close(live.firstPoints(name, 10).values, whole.firstPoints(name, 10).values), name);
        assert.ok(Math.abs(live.sum(name) - whole.sum(name)) < 1e-9, name);
      }
    }),
    { numRuns: 40 },
  );
});

test("what is appended moves no bucket but the last", () => {
  const run = longRun(4_000);
  const series = new RunSeries(1_024);
  series.load(answered(run, 0, 2_999, 1_024), 0);
  const before = series.column("policy/entropy");
  for (let step = 3_000; step < 4_000; step++) series.merge(liveStep(run, step));
  const after = series.column("policy/entropy");
  const kept = before.steps.length - 1;
  assert.equal(after.width, before.width);
  for (const part of ["steps", "values", "low", "high"] as const)
    assert.deepEqual(after[part]!.slice(0, kept), before[part]!.slice(0, kept));
});

test("an attempt that begins inside a bucket takes that bucket with it, and what the tiles read stays exact", () => {
  const run = longRun(1_000);
  const series = new RunSeries(64);
  series.load(answered(run, 0, 999, 64), 0);
  assert.equal(series.width, 16);
  assert.equal(series.at("policy/entropy"), run["policy/entropy"]!(999));
  series.merge({ step: 996, attempt: 1, metrics: { "policy/entropy": 7 } });
  assert.deepEqual(series.column("policy/entropy").steps.slice(-2), [991, 996]);
  assert.equal(series.at("policy/entropy"), 7);
  assert.equal(series.exactly("policy/entropy", 995), run["policy/entropy"]!(995));
});

test("smoothing is made of every point, before buckets: it depends neither on their width nor on where a part begins", () => {
  const run = longRun(20_000);
  const metric = "policy/entropy";
  const smooth = 0.9;
  const expected: number[] = [];
  let [sum, weight] = [0, 0];
  for (let step = 0; step < 20_000; step++) {
    sum = smooth * sum + (1 - smooth) * run[metric]!(step)!;
    weight = smooth * weight + (1 - smooth);
    expected.push(sum / weight);
  }
  const of = (first: number, last: number, most: number): Series =>
    answered({ [metric]: run[metric]! }, first, last, most, smooth)[0]!;
  const single = of(15_000, 15_200, 2_048);
  single.steps.forEach((step, i) => assert.ok(Math.abs(single.values[i]! - expected[step]!) < 1e-9));
  const wide = of(0, 19_999, 512);
  assert.ok((wide.width ?? 1) > 1);
  wide.steps.forEach((last, i) => {
    const own = expected.slice(wide.begins![i]!, last + 1);
    assert.ok(Math.abs(wide.values[i]! - own.reduce((a, b) => a + b, 0) / own.length) < 1e-9);
  });
  const still = answered({ still: () => 0.3 }, 0, 99, 2_048, smooth)[0]!;
  assert.ok(
    still.values.every((value) => Math.abs(value! - 0.3) < 1e-12),
    "a constant is not drawn to 0",
  );
});
