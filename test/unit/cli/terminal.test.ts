import assert from "node:assert/strict";
import { test } from "node:test";
import { wantsColours } from "../../../server/cli/text/colours.ts";
import { fewOf } from "../../../server/cli/runs/followHere.ts";
import { sparkline } from "../../../shared/lib/sparkline.ts";
import { LiveView } from "../../../server/cli/text/runView.ts";
import { bar, columnsOf, cut, duration, LiveBlock, oneLine } from "../../../server/cli/text/terminal.ts";

test("a sparkline spans its own range, keeps the last values and leaves gaps", () => {
  assert.equal(sparkline([0, 1, 2, 3, 4, 5, 6, 7], 8), "▁▂▃▄▅▆▇█");
  assert.equal(sparkline([9, 9, 0, 7], 2), "▁█");
  assert.equal(sparkline([0, Number.NaN, 7], 8), "▁ █");
  assert.equal(sparkline([], 8), "");
  assert.equal(sparkline([2, 2], 8), "▄▄");
});

test("a bar is as long as asked, whatever it is given", () => {
  for (const [done, total] of [
    [0, 10],
    [5, 10],
    [10, 10],
    [20, 10],
    [0, 0],
  ] as const)
    assert.equal([...bar(done, total, 10)].length, 10);
  assert.equal(bar(5, 10, 4), "██░░");
});

test("durations and lines are written for people", () => {
  assert.deepEqual([59, 61, 3700, Number.NaN].map(duration), ["59 s", "1 min 01 s", "1 h 01 min", "–"]);
  assert.equal(oneLine("a\nb\u0007c", 10), "a⏎b␇c");
  assert.equal(oneLine("abcdef", 4), "abc…");
});

test("the completions shown are the best, one between and the worst, each once", () => {
  const rows = [3, 1, 2, null].map((reward) => ({
    prompt: "",
    response: "",
    reward,
    finish: "stop" as const,
  }));
  assert.deepEqual(
    fewOf(rows).map(({ reward }) => reward),
    [3, 2, 1],
  );
  assert.deepEqual(
    fewOf(rows.slice(0, 1)).map(({ reward }) => reward),
    [3],
  );
  assert.deepEqual(fewOf([]), []);
});

void test("a pipe gets no colours, also where CI is set; NO_COLOR and FORCE_COLOR decide first", () => {
  assert.equal(wantsColours({ CI: "true" }, false), false);
  assert.equal(wantsColours({}, true), true);
  assert.equal(wantsColours({ TERM: "dumb" }, true), false);
  assert.equal(wantsColours({ NO_COLOR: "1", FORCE_COLOR: "1" }, true), false);
  assert.equal(wantsColours({ FORCE_COLOR: "1" }, false), true);
  assert.equal(wantsColours({ FORCE_COLOR: "0" }, true), false);
});

test("a line is cut by columns, with its colours ended", () => {
  assert.equal(cut("abcdef", 4), "abc…");
  assert.equal(cut("abcd", 4), "abcd");
  assert.equal(cut("\u001b[1mabcdef\u001b[22m", 4), "\u001b[1mabc…\u001b[22m");
  assert.equal(cut("漢字漢字", 5), "漢字…");
  assert.deepEqual(["漢字", "é", "e\u0301", "🙂", "\u001b[1mab\u001b[22m"].map(columnsOf), [4, 1, 1, 2, 2]);
});

test("the picture of a run fits every terminal, whatever its stage is called and however long it takes", () => {
  for (const columns of [20, 40, 60, 80, 81, 120]) {
    const written: string[] = [];
    const view = new LiveView({ columns, write: (text: string) => written.push(text) } as never);
    view.line({ type: "stage", name: "a-stage-with-a-very-long-name" } as never);
    for (const step of [0, 1_234_566]) {
      const metrics = { "time/total": 123.456, "reward/total": 0.5, "curriculum/countdown/3/share": 0.5 };
      view.line({ type: "step", step, stage: "a", metrics } as never);
      view.completions([
        { prompt: "漢字 ".repeat(60), response: "🙂".repeat(40), reward: 1, finish: "stop" },
      ]);
    }
    const lines = written
      .join("")
      .replaceAll("\r", "")
      .replaceAll("\u001b[", "[")
      .replaceAll(/\[\d+[AJ]/g, "")
      .split("\n");
    assert.ok(lines.length > 5);
    for (const line of lines) assert.ok(columnsOf(line) < columns, `${columns}: ${line}`);
  }
});

test("lines that a narrower terminal has broken are all drawn over", () => {
  const written: string[] = [];
  const stream = { columns: 80, write: (text: string) => written.push(text) };
  const block = new LiveBlock(stream as never);
  block.draw(["x".repeat(70), "y"]);
  stream.columns = 40;
  block.draw(["z"]);
  assert.ok(written.at(-1)!.startsWith("\r\u001b[3A"));
});
