import assert from "node:assert/strict";
import { test } from "node:test";
import { coveredLines } from "../../../extension/features/rewardCoverage/lines.ts";
import type { BranchCoverage, FileCoverage, RewardCoverage } from "../../../shared/rollouts/coverage.ts";

const branch = (line: number, exit: BranchCoverage["exit"], rollouts: number): BranchCoverage => ({
  line,
  character: 4,
  kind: exit === "then" || exit === "else" ? "if" : "for",
  exit,
  rollouts,
});

test("a line says how many rollouts reach it, and which way on from it none took", () => {
  const file: FileCoverage = {
    file: "/reward.py",
    rollouts: 20_480,
    lines: [
      { line: 3, rollouts: 20_480 },
      { line: 4, rollouts: 312 },
      { line: 5, rollouts: 0 },
    ],
    branches: [
      branch(3, "then", 312),
      branch(3, "else", 20_168),
      branch(4, "then", 312),
      branch(4, "else", 0),
      branch(5, "body", 0),
      branch(7, "body", 12),
      branch(7, "end", 0),
    ],
  };
  const about = { run: "r1", name: "gsm_8k", from: 180, to: 199, steps: 20, of: 200, milliseconds: 3_001 };
  const coverage: RewardCoverage = { ...about, rollouts: 20_480, files: [file], notes: [] };
  const lines = coveredLines(coverage, file);
  assert.deepEqual(
    lines.map(({ line, reach, hover }) => [line, reach, hover.split("\n")[0]]),
    [
      [3, "reached", "reached by 20,480 of 20,480 rollouts"],
      [4, "partly", "reached by 312 of 20,480 rollouts; `else` never taken"],
      [5, "never", "reached by none of 20,480 rollouts"],
      [7, "partly", "reached by 12 of 20,480 rollouts; `for` never left at its end"],
    ],
  );
  assert.match(
    lines[0]?.hover ?? "",
    /gsm\\_8k, run r1, steps 180 to 199 \(20 of 200 with rollouts\), 20,480 rollouts$/,
  );
});
