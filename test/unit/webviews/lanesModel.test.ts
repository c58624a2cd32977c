import assert from "node:assert/strict";
import { test } from "node:test";
import type { CurriculumLane, CurriculumOverview } from "../../../shared/protocol/protocol.ts";
import {
  above,
  areasOf,
  brushOf,
  carriedArea,
  carriedPlace,
  describeCell,
  describeTotals,
  laneRows,
  opensTo,
  shownNames,
  summarizeLanes,
  viewOf,
} from "../../../webviews/run/curriculum/lanesModel.ts";

const tally = {
  groups: 1,
  admitted: 1,
  dead: 0,
  exhausted: 0,
  successes: 1,
  rollouts: 2,
  tokens: 8,
  deadTokens: 0,
  exhaustedTokens: 0,
  unmeasured: 0,
};
const lane = (name: string, changes: Partial<CurriculumLane> = {}): CurriculumLane => ({
  ...tally,
  name,
  tasks: 1,
  columns: [0],
  drawn: [1],
  admittedIn: [1],
  rates: [0.5],
  ...changes,
});
const overview = (changes: Partial<CurriculumOverview> = {}): CurriculumOverview => ({
  by: "arm",
  arm: null,
  family: null,
  from: 10,
  to: 19,
  width: 2,
  lanes: ["a", "b", "c", "d"].map((name) => lane(name)),
  more: 0,
  columns: [],
  reasons: [],
  ...changes,
});
const at = (lane: number, column: number) => ({ lane, column });

test("what is pointed at and marked stays while the run goes on", () => {
  const before = overview();
  const after = overview({ to: 39, width: 4, lanes: ["c", "a", "b", "e"].map((name) => lane(name)) });
  assert.deepEqual(carriedPlace(before, after, at(1, 3)), at(2, 1), "b, step 16");
  assert.deepEqual(carriedArea(before, after, { from: at(0, 0), to: at(2, 4) }), {
    from: at(1, 0),
    to: at(0, 2),
  });
  assert.equal(carriedPlace(before, after, at(3, 3)), null, "d is no longer listed");
  assert.equal(carriedPlace(before, overview({ from: 14 }), at(0, 1)), null, "step 12 is out of view");
  assert.equal(carriedPlace(before, overview({ by: "task" }), at(0, 0)), null, "another kind of lane");
});

test("a brush finds its cells again, also where lanes have changed places or a cell is of more steps", () => {
  const before = overview();
  const brush = brushOf(before, at(2, 3), at(1, 1));
  assert.deepEqual(brush, { by: "arm", from: 12, to: 17, names: ["b", "c"] });
  assert.deepEqual(areasOf(before, brush), [{ from: at(1, 1), to: at(2, 3) }]);
  const moved = overview({ lanes: ["c", "a", "b", "e"].map((name) => lane(name)), width: 5 });
  assert.deepEqual(areasOf(moved, brush), [
    { from: at(0, 0), to: at(0, 1) },
    { from: at(2, 0), to: at(2, 1) },
  ]);
  assert.deepEqual(areasOf(overview({ from: 18 }), brush), [], "out of view");
  assert.deepEqual(areasOf(overview({ by: "family" }), brush), []);
});

test("all lanes of an arm or a family represent it, those that are not shown included", () => {
  const whole = brushOf(overview(), at(0, 0), at(3, 0));
  assert.deepEqual(whole.names, []);
  assert.deepEqual(areasOf(overview(), whole), [{ from: at(0, 0), to: at(3, 0) }]);
  const family = overview({ family: "easy" });
  const brush = brushOf(family, at(0, 0), at(3, 0));
  assert.deepEqual({ by: brush.by, names: brush.names }, { by: "family", names: ["easy"] });
  assert.deepEqual(areasOf(family, brush), [{ from: at(0, 0), to: at(3, 0) }]);
  const above = overview({ by: "family", lanes: [lane("easy"), lane("hard")] });
  assert.deepEqual(areasOf(above, brush), [{ from: at(0, 0), to: at(0, 0) }]);
  assert.deepEqual(brushOf(overview({ by: "task", arm: "x" }), at(0, 0), at(3, 0)).names, ["x"]);
});

test("families open into arms, arms into tasks where they have several, and back", () => {
  assert.deepEqual(opensTo(overview({ by: "family" }), lane("f")), { family: "f", arm: null });
  assert.equal(opensTo(overview({ family: "f" }), lane("a")), null);
  const several = opensTo(overview({ family: "f" }), lane("a", { tasks: 3 }));
  assert.deepEqual(several, { family: "f", arm: "a" });
  assert.equal(opensTo(overview({ by: "task" }), lane("t", { tasks: 3 })), null);
  assert.deepEqual(above({ family: "f", arm: "a" }), { family: "f", arm: null });
  assert.deepEqual(above({ family: null, arm: "a" }), { family: null, arm: null });
  const by = (family: string | null, arm: string | null) => viewOf({ family, arm }, [0, 1]).by;
  assert.deepEqual(
    [by(null, null), by("f", null), by("f", "a"), by(null, "a")],
    ["auto", "arm", "task", "task"],
  );
});

test("in an opened family names are without what all begin with", () => {
  const names = (family: string | null, ...given: readonly string[]) =>
    shownNames(overview({ family, lanes: given.map((name) => lane(name)) }));
  assert.deepEqual(names("f", "a/b/1", "a/b/2", "a/c"), ["b/1", "b/2", "c"]);
  assert.deepEqual(names("f", "a/1", "b/1"), ["a/1", "b/1"]);
  assert.deepEqual(names("f", "a/1"), ["a/1"]);
  assert.deepEqual(names(null, "a/1", "a/2"), ["a/1", "a/2"]);
});

test("a child task names its parents and its author, in its cell and in the table", () => {
  const made = {
    source: "easier",
    parents: ["p", "q"],
    generation: 1,
    step: 12,
    transform: "simplify",
    author: "program",
    answered: "program",
    tried: { successes: 1, rollouts: 4 },
  };
  const of = overview({ by: "task", lanes: [lane("a", { made }), lane("b")] });
  assert.match(
    describeCell(of, at(0, 0)),
    / {2}· {2}made from p and q by program \(simplify\) at step 12, solved 1 of 4 when tried$/,
  );
  assert.deepEqual(
    laneRows(of).map((row) => row.slice(8)),
    [
      ["p, q", "program (simplify)", "12", "1 of 4"],
      ["", "", "", ""],
    ],
  );
  assert.equal(laneRows(overview())[0]?.length, 8);
});

test("lanes in words: first, last, lowest and highest of each, and how many are left", () => {
  const moved = lane("a", { groups: 4, columns: [0, 1, 3, 4], rates: [0.5, 0.25, null, 0.75] });
  assert.equal(
    summarizeLanes(overview({ lanes: [moved, lane("b", { rates: [null] })], more: 3 })),
    "a, over 4 groups: from 50 % right in steps 10 to 11 to 75 % right in steps 18 to 19, lowest 25 % right in steps 12 to 13, highest 75 % right in steps 18 to 19. b: nothing was scored. 3 more: the table has those that are shown.",
  );
});

test("counts of what has been read so far are no facts about the run", () => {
  const whole = overview({ columns: [{ ...tally, column: 0, groups: 32, admitted: 32 }] });
  assert.match(describeTotals(whole)[0]!, /^32 groups drawn, 32 trained/);
  assert.deepEqual(describeTotals({ ...whole, unread: 58 }), [
    "Reading the rollouts: 32 groups counted, 58 steps left.",
  ]);
});
