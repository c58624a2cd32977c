/** What `gradus presets PRESET` prints, and the editor opens for a paper: a config that is checked as it is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { objectOf } from "../../../shared/lib/json.ts";
import { checking } from "../../../server/cli/starter/checking.ts";
import { files } from "../../../server/cli/starter/files.ts";
import { presetConfig } from "../../../server/cli/text/presetConfig.ts";
import { listPapers } from "../../../server/config/papers.ts";
import { listPresets, presetNamed } from "../../../server/config/presets.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { rowsOf, slotOfPaper } from "../../../shared/editor/papers.ts";
import { gradus } from "../../support/cli.ts";
import { some } from "../../support/thorough.ts";

/** These need a file of the person's: the message in the editor says which. */
const needsFile = ["a-lol", "bayesian-mixture", "modomodo"];

test("every preset's config has no error, but for those that need a file, and none begins where nothing is right", () => {
  const listed = some(listPresets(), 90);
  const checked = listed.map((preset) => ({
    id: preset.id,
    ...checking(`/tmp/${preset.id}.gradus.yaml`)(presetConfig(preset)),
  }));
  const idsOf = (list: typeof checked): string[] => list.map(({ id }) => id);
  assert.deepEqual(
    idsOf(checked.filter(({ errors }) => errors > 0)),
    needsFile.filter((id) => listed.some((preset) => preset.id === id)),
  );
  assert.deepEqual(idsOf(checked.filter(({ isUntaught }) => isUntaught)), []);
});

test("its policy is taught first, as that of `gradus init --from` is", () => {
  const stagesOf = (text: string): unknown =>
    objectOf(loadConfig("/tmp/a.gradus.yaml", { text }).tree)["stages"];
  const [printed, written] = [presetConfig(presetNamed("dapo")!), files("dapo")["countdown.gradus.yaml"]!];
  assert.deepEqual(stagesOf(printed), stagesOf(written));
  assert.match(printed, /kind: sft/);
  assert.match(
    presetConfig(presetNamed("score")!),
    /name: warm-up\n +kind: sft[^]*name: first-held[^]*name: both/,
  );
});

test("it names the paper and what the preset follows, in lines that can be read", () => {
  const sec = presetNamed("sec");
  assert.ok(sec);
  const text = presetConfig(sec);
  assert.match(
    text,
    /^# Self-Evolving Curriculum for LLM Reasoning \(arXiv 2505\.14970\)\n#\n# What `sec` follows: /,
  );
  assert.match(text, /^extends: sec$/m);
  assert.ok(text.split("\n").every((line) => line.length <= 110));
});

test("a preset that brings its own reward keeps it", () => {
  const own = presetNamed("rlpr");
  assert.ok(own);
  assert.doesNotMatch(presetConfig(own), /^reward:/m);
});

test("gradus presets PRESET prints it, and an unknown one is refused with the nearest", async () => {
  const { stdout, code } = await gradus(["presets", "sec"]);
  assert.equal(code, 0);
  assert.match(stdout, /^extends: sec$/m);
  const json: unknown = JSON.parse((await gradus(["presets", "sec", "--json"])).stdout);
  assert.deepEqual(json, { preset: "sec", config: stdout });
  const unknown = await gradus(["presets", "seck"]);
  assert.equal(unknown.stdout, "");
  assert.match(unknown.stderr, /Did you mean `sec`\?/);
});

test("the list to pick from has every paper, those that something serves first", () => {
  const rows = rowsOf(listPapers());
  assert.equal(rows.length, listPapers().length);
  const served = rows.map(({ paper }) => paper.presets.length + paper.commands.length > 0);
  assert.ok(!served.slice(served.indexOf(false)).includes(true));
  const sec = rows.find(({ label }) => label === "Self-Evolving Curriculum for LLM Reasoning");
  assert.equal(sec?.description, "arXiv 2505.14970");
  assert.match(sec.detail, /^sec, sec-released — /);
  assert.match(rows.at(-1)?.detail ?? "", /nothing of it yet/);
});

test("a paper that a method's slot serves leads to the slot's page", () => {
  const paper = listPapers().find(({ commands }) => commands[0] === "gradus methods task_gate");
  assert.ok(paper);
  assert.equal(slotOfPaper(paper), "task_gate");
});
