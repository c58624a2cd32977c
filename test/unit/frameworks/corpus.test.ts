/** Realistic configurations of every form: recognised, without an error, and every diagnostic of theirs accounted for. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  checkFrameworkDocument,
  geometryOf,
  DocumentModel,
  readFrameworkDocument,
} from "../../../server/frameworks/check/index.ts";
import { some } from "../../support/thorough.ts";

const root = "test/fixtures/frameworks";
const files = (["verl", "trl", "openrlhf"] as const).map((framework) => ({
  framework,
  names: readdirSync(join(root, framework)),
}));

const windowsEnds = (what: string): string =>
  `foreign-cut-launch: The command ends here: this script has Windows line ends, and a carriage return follows the backslash. The ${what} on are not passed. Save it with LF line ends: \`perl -pi -e 's/\\r$//' 'windows.sh'\`.`;

/** Findings that are right: the file, the rule, and what in the framework justifies it. */
const expected: Readonly<Record<string, readonly string[]>> = {
  // os.environ may hold them, and a shell puts nothing in place of what it does not know.
  "trl/unknownParts.py": [],
  // bash, with the files as they are: `--ref.num_nodes: command not found`.
  "verl/windows.sh": [windowsEnds("31 settings from `algorithm.adv_estimator`")],
  "openrlhf/windows.sh": [windowsEnds("38 settings from `--ref.num_nodes`")],
  // verl/trainer/ppo/v1/trainer_base.py: `_compute_advantage` has no `reward_baselines` for `compute_remax_outcome_advantage`.
  "verl/remax.sh": [
    "verl-estimator-needs: `remax` reads the reward of a greedy response, but verl's trainer since 0.9 does not pass it on: the first step stops. The older trainer passes it on.",
  ],
};

for (const { framework, names } of files)
  describe(`configurations of ${framework}`, () => {
    it("are thirty at least", () => assert.ok(names.length >= 30, String(names.length)));
    for (const name of names)
      it(name, () => {
        const text = readFileSync(join(root, framework, name), "utf8");
        const document = readFrameworkDocument(`/nowhere/${name}`, text, { environment: "" });
        assert.equal(document?.framework, framework);
        assert.ok(document.settings.length > 1);
        const found = checkFrameworkDocument(document).filter(({ severity }) => severity !== "info");
        assert.deepEqual(
          found.map(({ rule, message }) => `${rule}: ${message}`),
          expected[`${framework}/${name}`] ?? [],
        );
        assert.ok(geometryOf(new DocumentModel(document)).length > 3);
      });
  });

describe("any text", () => {
  it("that is cut short or broken is read without a failure", () => {
    for (const { framework, names } of files)
      for (const name of some(names.slice(0, 12), 2)) {
        const text = readFileSync(join(root, framework, name), "utf8");
        for (let end = 1; end < text.length; end += 1 + Math.floor(text.length / 40)) {
          const pieces = [
            text.slice(0, end),
            text.slice(end),
            text.slice(0, end) + "\"'${((" + text.slice(end),
          ];
          for (const piece of pieces) {
            const document = readFrameworkDocument(`/nowhere/${name}`, piece, { environment: "" });
            if (document !== undefined) checkFrameworkDocument(document);
          }
        }
      }
  });

  it("has its diagnostics at places that it has", () => {
    const text = "python3 -m verl.trainer.main_ppo \\\r\n\ttrainer.nnodess=2 \\\r\n  data.trian_files=é $X";
    const document = readFrameworkDocument("/nowhere/run.sh", text, { environment: "" });
    assert.ok(document);
    const lines = text.split("\n");
    for (const { range } of checkFrameworkDocument(document)) {
      assert.ok(range.end.character <= (lines[range.end.line]?.length ?? -1));
      assert.ok(range.start.line <= range.end.line);
    }
  });
});
