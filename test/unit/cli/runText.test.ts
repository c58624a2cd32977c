/** What stays in a terminal or a file of a run that was followed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Course } from "../../../server/cli/text/course.ts";
import type { RunLine } from "../../../server/cli/text/runLines.ts";
import { PlainView } from "../../../server/cli/text/runText.ts";
import { thinned, wrapped } from "../../../server/cli/text/terminal.ts";

const started: RunLine = {
  type: "started",
  run: "r",
  name: "r",
  file: "r.gradus.yaml",
  folder: ".gradus/runs/r",
  steps: 1000,
  backend: null,
  backendReason: null,
  stages: [{ name: "rl", kind: "rl", steps: 1000 }],
};
const step = (step: number, metrics: Record<string, number> = {}): Extract<RunLine, { type: "step" }> => ({
  type: "step",
  step,
  metrics: { "reward/total": step / 1000, ...metrics },
});
const summary = (evaluation: Extract<RunLine, { type: "summary" }>["evaluation"]) =>
  ({
    type: "summary",
    run: "r",
    status: "finished",
    steps: 1000,
    message: null,
    evaluation,
    seconds: 5,
    folder: "p/.gradus/runs/r",
    resume: null,
  }) as const;

/** Lines of a run of 1,000 steps, each so many milliseconds long, an evaluation after half of them. */
function told(milliseconds: number): string[] {
  let now = 0;
  const view = new PlainView(() => now);
  const lines = view.lines(started);
  for (let at = 0; at < 1000; at++) {
    now += milliseconds;
    lines.push(...view.lines(step(at)));
    if (at === 499)
      lines.push(
        ...view.lines({ type: "evaluation", step: 499, role: "periodic", metrics: { "eval/pass@1": 0.5 } }),
      );
    if (at === 699) lines.push(...view.lines({ type: "stage", step: 700, name: "late", kind: "rl" }));
  }
  return [...lines, ...view.lines(summary({ first: null, last: null }))];
}
const stepsIn = (lines: readonly string[]): number[] =>
  lines.flatMap((line) => /^step (\d+) /.exec(line)?.slice(1).map(Number) ?? []);

test("a pipe gets a step at most every two seconds and every 1 %, and always the first and the last", () => {
  for (const [milliseconds, most] of [
    [1, 8],
    [10, 11],
    [1000, 106],
  ] as const) {
    const steps = stepsIn(told(milliseconds));
    assert.ok(steps.length <= most, `${steps.length} lines at ${milliseconds} ms`);
    assert.deepEqual({ first: steps[0], last: steps.at(-1) }, { first: 0, last: 999 });
  }
  assert.ok(stepsIn(told(1000)).length >= 95);
});

test("what else happens is reported at once, after the step that it follows", () => {
  const lines = told(1);
  const evaluation = lines.findIndex((line) => line.includes("after 500 steps"));
  assert.match(lines[evaluation - 1]!, /^step 499 /);
  const stage = lines.indexOf("stage late (rl)");
  assert.match(lines[stage - 1]!, /^step 699 /);
  assert.match(lines[stage + 1]!, /^step 700 /);
});

test("a curve and a sentence of what happened stay above before and after", () => {
  const lines = told(1);
  const curve = lines.findIndex((line) => line.startsWith("reward "));
  assert.match(lines[curve]!, /^reward {4}▁[▁▂▃▄▅▆▇█]{58}█ 0\.949$/u);
  assert.equal(
    lines[curve + 1],
    "The reward, as the mean of the first and of the last 100 steps, rose from 0.050 to 0.949.",
  );
});

test("the sentence says what fell, what stayed, and that nothing trained", () => {
  const course = new Course();
  for (let at = 0; at < 20; at++) course.step(step(at, { "reward/total": 0.5, "tokens/trained": 0 }));
  const [, sentence] = course.lines(
    summary({ first: { "eval/pass@1": 0.25 }, last: { "eval/pass@1": 0.125 } }),
  );
  assert.equal(
    sentence,
    "The reward, as the mean of the first and of the last 2 steps, stayed at 0.500, and held-out pass@1 fell from 0.250 to 0.125. No token was trained.",
  );
  assert.deepEqual(new Course().lines(summary({ first: null, last: null })), []);
});

test("a course is drawn whole, however long", () => {
  assert.deepEqual(thinned([1, 3, 5, 7], 2), [2, 6]);
  assert.deepEqual(thinned([1, Number.NaN], 60), [1, Number.NaN]);
});

test("lines break between words only, and a path stays whole", () => {
  const text =
    "  · Lower the learning rate of the update to 1.0e-6. gradus runs resume /a/very/long/path/of/a/run";
  const lines = wrapped(text, 40).split("\n");
  assert.deepEqual(lines, [
    "  · Lower the learning rate of the",
    "    update to 1.0e-6. gradus runs resume",
    "    /a/very/long/path/of/a/run",
  ]);
  assert.equal(lines.map((line) => line.trim()).join(" "), text.trim());
  assert.equal(
    wrapped(`\u001b[31m${"a".repeat(10)}\u001b[39m b`, 12),
    `\u001b[31m${"a".repeat(10)}\u001b[39m b`,
  );
  assert.equal(wrapped("/much/longer/than/the/terminal is", 10), "/much/longer/than/the/terminal\n  is");
});

test("a run says why it computes on WebAssembly, and nothing of a backend that is as it should be", () => {
  const first = (backend: string, backendReason: string): string =>
    new PlainView(() => 0).lines({ ...started, backend, backendReason }).join("\n");
  assert.match(
    first("wasm", "no index is named. To fix it: name one"),
    /computing on wasm: no index is named\. To fix it/,
  );
  assert.match(first("native", "TensorFlow's native library"), /computing on native$/m);
});
