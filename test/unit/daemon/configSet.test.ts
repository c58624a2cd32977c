/** A verdict's fix as text: set where the file has the value, added where it has none, refused where it is elsewhere. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { changedPart } from "../../../extension/features/panel/changedPart.ts";
import { setInConfig } from "../../../server/daemon/config/configSet.ts";

const text = `# mine
reward:
  terms:
    correct: { use: equation }
    brevity: { use: length, weight: 0.1 } # short
stages:
  - { name: warm-up, kind: sft, steps: 80 }
`;
const set = (...values: readonly { readonly path: string; readonly value: number | string }[]): string =>
  setInConfig({ file: "/p/a.gradus.yaml", text, set: [...values] });

test("values are set in the style of the file, several at once, and nothing else changes", () => {
  const now = set(
    { path: "reward.terms.brevity.weight", value: 0 },
    { path: "stages.warm-up.steps", value: 800 },
    { path: "reward.combine", value: "product" },
  );
  assert.equal(
    now,
    text
      .replace("weight: 0.1", "weight: 0")
      .replace("steps: 80", "steps: 800")
      .replace("} # short\n", '} # short\n  combine: "product"\n'),
  );
  const { start, end, inserted } = changedPart(text, set({ path: "stages.0.steps", value: 800 }));
  assert.deepEqual(
    [text.slice(0, end).endsWith("steps: 80"), start, inserted],
    [true, text.indexOf("80 }") + 2, "0"],
  );
  assert.deepEqual(changedPart("a", "a"), { start: 1, end: 1, inserted: "" });
});

test("what comes from elsewhere is refused, with the value to write there", () => {
  const aliased = text
    .replace("correct: {", "correct: &short {")
    .replace("brevity: { use: length, weight: 0.1 }", "brevity: *short");
  assert.throws(
    () =>
      setInConfig({
        file: "/p/a.gradus.yaml",
        text: aliased,
        set: [{ path: "reward.terms.brevity.weight", value: 2 }],
      }),
    /no safe place to set `reward\.terms\.brevity\.weight`/,
  );
});
