/** Ways in which public projects start trainers, each in words of our own: whose the file is, and what is wrong with it. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { convert } from "../../../server/frameworks/trainers/convert.ts";
import { checkFrameworkDocument, readFrameworkDocument } from "../../../server/frameworks/check/index.ts";
import { UserError } from "../../../shared/lib/errors.ts";

const folder = "test/fixtures/frameworks/idioms";

/** The framework, then its errors and warnings: `severity rule key`. */
const verdicts: Readonly<Record<string, readonly string[]>> = {
  "accelerate.sh": ["trl", "error foreign-value loss_type"],
  "array.sh": ["verl", "error foreign-unknown-key actor_rollout_ref.rollout.nn"],
  "call.py": ["trl", "error foreign-unknown-key num_generation"],
  "deepspeed.sh": ["openrlhf", "error foreign-unknown-key train.batch_sise"],
  "header.yaml": ["trl", "error foreign-value loss_type"],
  "heredoc.sh": ["verl", "error foreign-unknown-key model.pth"],
  "hydraFile.yaml": ["verl", "error foreign-value actor_rollout_ref.actor.policy_loss.loss_mode"],
  "rayJob.sh": ["openrlhf", "error foreign-unknown-key rollout.batch_sise"],
  "srun.sh": ["verl", "error foreign-unknown-key data.train_batch_sise"],
  "uvRun.sh": ["trl", "error foreign-unknown-key num_generation"],
  // verl, from an entry of someone else's: what that one adds or registers is not known.
  "ownEntry.sh": ["verl"],
  "ownEntry.yaml": ["verl"],
  // Unsloth's classes in the place of TRL's take more.
  "unsloth.py": ["trl"],
};
/** Programs that are not known, whatever words they share with the three. */
const unknown = [
  ...["axolotl.yaml", "instruct.sh", "namesake.py", "policy.yaml", "roles.yaml", "runGrpo.sh", "skyrl.sh"],
  ...["slime.sh", "workers.yaml"],
];

/** Where no environment, requirement or script lies near. */
const read = (name: string): ReturnType<typeof readFrameworkDocument> =>
  readFrameworkDocument(`/nowhere/${name}`, readFileSync(join(folder, name), "utf8"), { environment: "" });

describe("idioms of public examples", () => {
  for (const [name, [framework, ...found]] of Object.entries(verdicts))
    it(name, () => {
      const document = read(name);
      assert.ok(document);
      assert.equal(document.framework, framework);
      assert.deepEqual(
        checkFrameworkDocument(document)
          .filter(({ severity, rule }) => severity !== "info" && rule.startsWith("foreign-"))
          .map(({ severity, rule, key }) => `${severity} ${rule} ${key}`),
        found,
      );
      if (found.length === 0)
        assert.deepEqual(
          checkFrameworkDocument(document).filter(({ severity }) => severity === "error"),
          [],
        );
    });

  for (const name of unknown)
    it(`${name} is of a program that is not known, and not converted`, () => {
      assert.equal(read(name), undefined);
      const text = readFileSync(join(folder, name), "utf8");
      assert.throws(() => convert(`/nowhere/${name}`, text), UserError);
    });

  it("are all checked here", () => {
    assert.deepEqual(readdirSync(folder).sort(), [...Object.keys(verdicts), ...unknown].sort());
  });
});
