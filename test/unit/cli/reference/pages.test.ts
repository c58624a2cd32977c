import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { methods } from "../../../../server/methods/index.ts";
import { generatedFolders, generatedPages } from "../../../../server/cli/reference/index.ts";
import { places } from "../../../../server/cli/reference/places.ts";

const mend = "run `npm run docs` and commit what it writes";

test("the committed pages are what the declarations and presets say", () => {
  for (const [path, text] of generatedPages()) {
    assert.ok(existsSync(path), `${path} is missing: ${mend}`);
    assert.equal(readFileSync(path, "utf8"), text, `${path} is out of date: ${mend}`);
  }
});

test("no page is left of a slot or rule that is gone", () => {
  const pages = generatedPages();
  for (const folder of generatedFolders)
    for (const name of readdirSync(folder))
      assert.ok(pages.has(`${folder}/${name}`), `${folder}/${name} has no declaration: ${mend}`);
});

test("every slot with a method has a place in the config, but those whose block is still to come", () => {
  const missing = new Set(methods.map(({ slot }) => slot).filter((slot) => !places().has(slot)));
  assert.deepEqual([...missing], []);
  assert.equal(places().get("sampler")?.path, "curriculum.sampler");
  assert.equal(places().get("refill")?.path, "curriculum.admission.refill");
  assert.equal(places().get("kl")?.path, "kl[].estimator");
});

test("a page tells a parameter's range, default and whether it takes a schedule", () => {
  const page = generatedPages().get("docs/methods/sampler.md") ?? "";
  assert.match(page, /^\| `temperature` \| a number above 0 \| `1` \| yes \| τ; /m);
  assert.match(page, /^\| `floor` \| a number from 0 to 1 \| `0\.1` \| no \| /m);
});
