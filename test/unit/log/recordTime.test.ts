import assert from "node:assert/strict";
import { test } from "node:test";
import { millisecondsOf } from "../../../shared/log/recordTime.ts";

test("a recorded time is in milliseconds; what is too little for that is in seconds", () => {
  const day = Date.UTC(2026, 0, 1, 12, 30, 0, 250);
  assert.equal(millisecondsOf(day), day);
  assert.equal(millisecondsOf(day / 1000), day);
  // Whoever is nearest to the edge: the first days of this century, and seconds that are long to come.
  assert.equal(millisecondsOf(Date.UTC(2000, 0, 1)), Date.UTC(2000, 0, 1));
  assert.equal(millisecondsOf(Date.UTC(2999, 0, 1) / 1000), Date.UTC(2999, 0, 1));
});
