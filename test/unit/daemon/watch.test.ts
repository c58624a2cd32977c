import assert from "node:assert/strict";
import { test } from "node:test";
import { paced } from "../../../server/daemon/watch.ts";

test("a change is reported at once; those that follow closely are reported together, none is lost", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const told: string[] = [];
  const touch = paced((name) => told.push(name), 250);
  touch("a");
  assert.deepEqual(told, ["a"]);
  for (let i = 0; i < 5; i++) touch("a");
  touch("b");
  assert.deepEqual(told, ["a", "b"]);
  t.mock.timers.tick(249);
  assert.deepEqual(told, ["a", "b"]);
  t.mock.timers.tick(1);
  assert.deepEqual(told, ["a", "b", "a"]);
  t.mock.timers.tick(1000);
  touch("a");
  assert.deepEqual(told, ["a", "b", "a", "a"]);
});
