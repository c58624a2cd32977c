/** "Why is my GRPO reward flat?", as the editor asks it: reference answers while one types in a cell, and the log as a run. */
import assert from "node:assert/strict";
import { cpSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, describe, it } from "node:test";
import type { MessageConnection } from "vscode-jsonrpc/node";
import { ask } from "../../../shared/daemon/request.ts";
import { rewardGold, runsImport, runsVerdict } from "../../../shared/protocol/protocol.ts";
import { writeFlatStory } from "../../support/flatStory.ts";
import { withoutPython } from "../../support/pythonReward.ts";
import { Sandbox } from "../../rpc/daemon.ts";

describe("why is my reward flat, in the editor", () => {
  let box: Sandbox;
  let connection: MessageConnection;
  let folder = "";
  before(async () => {
    box = await Sandbox.make();
    folder = dirname(box.file);
    writeFlatStory(folder);
    // The worker as it ships: that of the sandbox trains and follows nothing.
    connection = await box.connect({ environment: { GRADUS_IDLE_MS: "60000" } });
  });
  after(() => box.end());

  it("reference answers are counted at each function, as it is typed", { skip: withoutPython }, async () => {
    const file = join(folder, "nb.ipynb");
    const text = readFileSync(file, "utf8");
    const counted = async (typed: string, trusted = true): Promise<string[] | undefined> =>
      (
        await ask(connection, rewardGold, { uri: pathToFileURL(file).href, text: typed, trusted })
      ).counts?.map(({ file: own, name, rewarded, of }) => `${own === file} ${name} ${rewarded} of ${of}`);
    assert.deepEqual(await counted(text), ["true soft_format 0 of 3", "true correct 3 of 3"]);
    const mended = text.replace('pattern = r\\"', 'pattern = r\\"(?s)');
    assert.notEqual(mended, text);
    assert.deepEqual(await counted(mended), ["true soft_format 3 of 3", "true correct 3 of 3"]);
    assert.deepEqual(await counted(text.replace("re.match(", "re.match((")), [], "half of a line");
    assert.deepEqual(await counted(text, false), [], "without trust nothing runs");
    assert.equal(readFileSync(file, "utf8"), text);
  });

  it("the log is a run, read once, with the verdict of its step", async () => {
    const { run } = await ask(connection, runsImport, { folder: join(folder, "slurm-123.out") });
    const { status, trainer, lastStep } = await box
      .reach(connection, run, (detail) => detail.status === "finished")
      .then(({ status: ended, origin, step }) => ({
        status: ended,
        trainer: origin?.trainer,
        lastStep: step,
      }));
    assert.deepEqual({ status, trainer, lastStep }, { status: "finished", trainer: "trl", lastStep: 300 });
    const { verdict } = await ask(connection, runsVerdict, { run });
    assert.match(JSON.stringify(verdict), /Collapsed from step 18\d to 2[23]\d/);
  });

  it("so is a folder that holds nothing but the log", async () => {
    const logs = join(folder, "logs");
    cpSync(join(folder, "slurm-123.out"), join(logs, "slurm-7.out"));
    const { run } = await ask(connection, runsImport, { folder: logs });
    const { status } = await box.reach(connection, run, (detail) => detail.status === "finished");
    assert.equal(status, "finished");
  });
});
