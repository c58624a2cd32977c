import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { checkFrameworkDocument, readFrameworkDocument } from "../../../server/frameworks/check/index.ts";

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

/** All that is read of a text and said about it, but for what Windows' line ends alone do to a script. */
function seen(file: string, text: string) {
  const document = readFrameworkDocument(file, text);
  if (document === undefined) return undefined;
  const { settings, text: _, cut, ...rest } = document;
  const said = checkFrameworkDocument(document);
  const broken = said.filter(({ message }) => message.includes("carriage return"));
  assert.ok(broken.length <= 1, file);
  return {
    ...rest,
    cut: cut?.cause === "return" ? undefined : cut,
    settings: settings.map((setting) => ({ ...setting, text: setting.text.replaceAll("\r\n", "\n") })),
    said: said
      .filter((one) => !broken.includes(one))
      .map(({ rule, message, range }) => [rule, message, range]),
  };
}

it("reads a file with Windows' line ends as it reads the same file with others", () => {
  const root = "test/fixtures/frameworks";
  const files = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:sh|ya?ml|py)$/.test(name))
    .map((name) => join(root, name));
  assert.ok(files.length > 100);
  for (const file of files) {
    const text = readFileSync(file, "utf8").replaceAll("\r\n", "\n");
    assert.deepEqual(seen(file, text.replaceAll("\n", "\r\n")), seen(file, text), file);
  }
});
