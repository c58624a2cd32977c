/** A release that no table is kept of is checked by its neighbour's: that is said once, where it may matter. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  checkFrameworkDocument,
  checkedAgainst,
  readFrameworkDocument,
  releaseText,
} from "../../../server/frameworks/check/index.ts";
import { frameworkHover } from "../../../server/frameworks/use/assist/hover.ts";
import { scheduleText } from "../../../server/frameworks/releases/facts/scheduleWords.ts";
import { tableOf } from "../../../server/frameworks/releases/load.ts";

const document = (release: string, more: string): NonNullable<ReturnType<typeof readFrameworkDocument>> => {
  const text = `# trl==${release}\nfrom trl import GRPOConfig\n\nargs = GRPOConfig(\n    output_dir="out",\n    lr_scheduler_type="cosine",\n${more})\n`;
  const found = readFrameworkDocument("/nowhere/train.py", text, {});
  assert.ok(found);
  return found;
};
const rules = (release: string, more: string): string[] =>
  checkFrameworkDocument(document(release, more)).map(({ rule }) => rule);

describe("a release between two tables", () => {
  const wrong = "    num_generation=8,\n";

  it("is reported once, next to what was found", () => {
    const found = checkFrameworkDocument(document("0.22.1", wrong));
    const told = found.filter(({ rule }) => rule === "foreign-release");
    assert.equal(told.length, 1);
    assert.equal(told[0]?.severity, "info");
    assert.match(
      told[0]?.message ?? "",
      /Checked as TRL 0\.\d+\.\d+, because Gradus has no table of 0\.22\.1, which the file/,
    );
  });

  it("is not reported where nothing was found, or the table is kept", () => {
    assert.deepEqual(rules("0.22.1", ""), []);
    const kept = tableOf("trl").versions[2] ?? "";
    assert.ok(!rules(kept, wrong).includes("foreign-release"));
    assert.ok(rules(kept, wrong).includes("foreign-unknown-key"));
  });

  it("is not named by the tag of an image", () => {
    const version = (comment: string): string | undefined =>
      readFrameworkDocument(
        "/nowhere/run.sh",
        `# ${comment}\npython3 -m verl.trainer.main_ppo data.train_batch_size=8\n`,
        {
          environment: "",
        },
      )?.version.from;
    assert.equal(version("docker pull quay.io/ascend/verl:v0.8.0-cann9"), "newest");
    assert.equal(version("verl 0.8.0"), "file");
    assert.equal(version("verl version: v0.8.0"), "file");
  });

  it("is reported by every hover", () => {
    const at = { line: 4, character: 6 };
    assert.match(JSON.stringify(frameworkHover(document("0.22.1", ""), at)), /From the table of 0\.\d+\.\d+/);
    assert.doesNotMatch(JSON.stringify(frameworkHover(document("0.22.2", ""), at)), /From the table of/);
  });
});

describe("a release that came after the tables", () => {
  const found = (release: string, more: string): string[] =>
    checkFrameworkDocument(document(release, more))
      .filter(({ rule }) => rule !== "foreign-release")
      .map(({ severity, message }) => `${severity}: ${message}`);
  const newest = tableOf("trl").versions.at(-1) ?? "";

  it("may know keys and names that no table has: they are warnings that name it", () => {
    const [key] = found("99.1.0", "    brand_new_switch=True,\n");
    assert.match(key ?? "", /^warning: .*brand_new_switch/);
    assert.ok(key?.endsWith(`The newest release known here is TRL ${newest}: 99.1.0 may have it.`));
    assert.match(
      found("99.1.0", '    loss_type="brand_new",\n')[0] ?? "",
      /^warning: .*99\.1\.0 may have it/,
    );
    assert.match(found(newest, "    brand_new_switch=True,\n")[0] ?? "", /^error: /);
    assert.match(found(newest, '    loss_type="brand_new",\n')[0] ?? "", /^error: /);
  });

  it("still refuses a value of the wrong type", () => {
    assert.match(found("99.1.0", '    num_generations="many",\n')[0] ?? "", /^error: /);
  });

  it("is named next to what was found", () => {
    assert.deepEqual(checkedAgainst(document("0.22.2", "")), {
      framework: "TRL",
      version: "0.22.2",
      from: "file",
    });
    const later = checkedAgainst(document("99.1.0", ""));
    assert.deepEqual(later, { framework: "TRL", version: "99.1.0", from: "file", table: newest });
    assert.equal(releaseText(later), `TRL 99.1.0, by the keys of ${newest}`);
  });
});

describe("words for learning-rate schedules", () => {
  it("are shown where the cursor is on one", () => {
    const shown = JSON.stringify(frameworkHover(document("0.22.2", ""), { line: 5, character: 25 }));
    assert.match(shown, /`cosine`: lr · ½ \(1 \+ cos/);
  });

  it("are there for every name that transformers takes", () => {
    const rows = tableOf("transformers").keys["lr_scheduler_type"] ?? [];
    const names = rows.flatMap(({ choices }) => choices ?? []);
    assert.ok(names.length > 10);
    for (const name of names)
      assert.notEqual(scheduleText("lr_scheduler_type", name), undefined, String(name));
    for (const key of ["actor_rollout_ref.actor.optim.lr_decay_style", "critic.lr_scheduler"])
      assert.match(scheduleText(key, "cosine") ?? "", /cos/);
    assert.equal(scheduleText("loss_type", "cosine"), undefined);
  });
});
