/** The one binary search: against looking at every number. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { firstWhere } from "../../shared/lib/firstWhere.ts";

test("the first number for which a rising condition holds, or the size, in about log₂ questions", () => {
  for (let size = 0; size <= 17; size++)
    for (let from = 0; from <= size; from++) {
      let asked = 0;
      const found = firstWhere(size, (at) => {
        asked += 1;
        assert.ok(at >= 0 && at < size);
        return at >= from;
      });
      assert.equal(found, from);
      assert.ok(asked <= Math.ceil(Math.log2(size + 1)));
    }
  assert.equal(
    firstWhere(2 ** 31, (at) => at >= 2 ** 31 - 5),
    2 ** 31 - 5,
  );
});
