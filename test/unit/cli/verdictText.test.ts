import assert from "node:assert/strict";
import { test } from "node:test";
import { messageBeside } from "../../../server/cli/text/verdictText.ts";

test("why a run failed is said once: by its verdict, else on its own", () => {
  const message = "The disk is full.";
  assert.deepEqual(messageBeside(message, { headline: `The run failed at step 3: ${message}` }), []);
  assert.deepEqual(messageBeside(message, { headline: "Collapsed at step 3." }), [message]);
  assert.deepEqual(messageBeside(message, null), [message]);
  assert.deepEqual(messageBeside("", null), []);
});
