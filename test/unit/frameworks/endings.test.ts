import assert from "node:assert/strict";
import { it } from "node:test";
import { checkFrameworkDocument, readFrameworkDocument } from "../../../server/frameworks/index.ts";

const program = "python3 -m openrlhf.cli.train_ppo_ray";

// A reader that does not move on here fills the memory.
const texts: readonly [what: string, text: string][] = [
  ["a lone carriage return behind a backslash", `${program} \\\r --train.batch_size 8\n`],
  ["a backslash at the end", `${program} --train.batch_size 8 \\`],
  ["a quote that never closes", `${program} --" --train.batch_size 8\n`],
  ["a substitution that never closes", `${program} $(( 3 --train.batch_size 8\n`],
  ["a here-document that never ends", `read -r -d '' cmd <<EOF\n${program} --train.batch_size 8\n`],
];
const merged: readonly [what: string, text: string][] = [
  ["a merge of what is no map", "<<: 3\nactor_rollout_ref: { <<: [4], actor: { <<: x } }\n"],
  ["an alias of nothing", "actor_rollout_ref: { actor: *none, rollout: { <<: *none } }\n"],
];
for (const [what, text] of merged)
  it(`reads YAML with ${what}`, () => {
    const document = readFrameworkDocument("run.yaml", text);
    assert.doesNotThrow(() => document && checkFrameworkDocument(document));
  });

for (const [what, text] of texts)
  it(`reads a launch script with ${what}`, () => {
    assert.equal(readFrameworkDocument("launch.sh", text)?.framework ?? "openrlhf", "openrlhf");
  });
