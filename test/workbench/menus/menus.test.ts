/** Menus and lenses of editors, keys and the palette: each command there is run, and none leads to an error. */
import * as assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { language } from "../../../shared/editor/contributions.ts";
import type { Context } from "../../support/offers.ts";
import { farConfig, standInTrainer } from "../../support/standInTrainer.ts";
import { Offering } from "../offering.ts";
import { until } from "../support.ts";

describe("what editors and the palette offer, pressed where it is offered", () => {
  let at: Offering;
  before(async () => {
    at = await Offering.open();
  });
  after(() => at.close());
  /** Presses all of a place, then says what went wrong. */
  const presses = (name: string, act: () => Promise<void>): unknown =>
    it(name, async () => {
      await act().catch((error: unknown) => {
        throw new Error(`${String(error)}; said: ${JSON.stringify(at.person.errors)}`);
      });
      at.check();
    });

  const lenses = async (uri: vscode.Uri): Promise<readonly vscode.Command[]> => {
    const found = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      "vscode.executeCodeLensProvider",
      uri,
      50,
    );
    return found.flatMap(({ command }) => (command === undefined || command.command === "" ? [] : [command]));
  };
  const editorOf = ({ uri, languageId }: vscode.TextDocument): Context => ({
    ...at.around(),
    editorTextFocus: true,
    resourceScheme: uri.scheme,
    resourceLangId: languageId,
    resourceFilename: uri.path.split("/").at(-1) ?? "",
  });

  presses("above configs", async () => {
    const live = await at.stage.reach("running");
    for (const uri of [vscode.Uri.file(live.file), at.stage.short, at.stage.swept]) {
      await vscode.window.showTextDocument(uri);
      const found = await until(async () => {
        const shown = await lenses(uri);
        return shown.length > 1 && shown;
      }, "lenses");
      for (const command of found)
        await at.pressCommand(command, `the lens of ${uri.path.split("/").at(-1)}`);
    }
    await at.stage.endLive();
  });

  presses("in the menus of a config, and of one that a fork is made of", async () => {
    const python = standInTrainer(at.folder);
    writeFileSync(join(at.folder, "pace"), "6");
    const site = `kind: here\nfolder: ${join(at.folder, "far")}\npython: ${python}\n`;
    await vscode.workspace.fs.createDirectory(vscode.Uri.file(join(at.folder, "sites")));
    writeFileSync(join(at.folder, "sites", "lab.yaml"), site);
    const far = vscode.Uri.file(join(at.folder, "far.gradus.yaml"));
    writeFileSync(far.fsPath, farConfig);
    const menus = ["editor/title", "editor/title/run", "editor/context", "explorer/context"];
    const document = await vscode.workspace.openTextDocument(at.stage.short);
    for (const offer of at.offered(menus, editorOf(document))) {
      const uri = offer.command === "gradus.run.startOn" ? far : at.stage.short;
      at.person.answers = {
        ...at.person.answers,
        pick: offer.command === "gradus.run.startOn" ? "lab" : "short",
      };
      await vscode.window.showTextDocument(uri);
      await at.press(offer, "a config", uri);
    }
    const run = await at.stage.reach("finished");
    await vscode.commands.executeCommand("gradus.run.fork", run.id, 2);
    for (const offer of at
      .offered(menus, { ...editorOf(document), "gradus.forkPending": true })
      .filter((one) => !at.hasPressed(one)))
      await at.press(offer, "a config to fork", at.stage.short);
    await at.stage.endLive();
  });

  /** Puts the cursor into the first of a step's rollouts. @returns what a click there does */
  const atRollout = async (): Promise<vscode.Uri> => {
    await vscode.commands.executeCommand("gradus.rollouts.open", (await at.stage.reach("finished")).id, 4);
    const editor = vscode.window.activeTextEditor!;
    const { range, target } = await until(async () => {
      const links = await vscode.commands.executeCommand<vscode.DocumentLink[]>(
        "vscode.executeLinkProvider",
        editor.document.uri,
      );
      return links.find((link) => link.target?.scheme === "command");
    }, "the links of rollouts");
    editor.selection = new vscode.Selection(range.start, range.start);
    return target!;
  };

  /** Documents, each opened from the one before as a person does. */
  const opened: readonly [string, () => Promise<unknown>][] = [
    ["a config", async () => vscode.window.showTextDocument(at.stage.short)],
    [
      "a reward's file",
      async () => {
        writeFileSync(join(at.folder, "reward.ts"), "export const reward = () => 1;\n");
        await vscode.window.showTextDocument(vscode.Uri.file(join(at.folder, "reward.ts")));
      },
    ],
    ["rollouts of a step", async () => void (await atRollout())],
    [
      "a rollout",
      async () => {
        const { path, query } = await atRollout();
        await vscode.commands.executeCommand(path, ...(JSON.parse(query) as unknown[]));
      },
    ],
    [
      "rollouts of a task",
      async () => {
        await opened.find(([name]) => name === "a rollout")![1]();
        await vscode.commands.executeCommand("gradus.task.follow");
      },
    ],
  ];

  for (const [where, open] of opened)
    presses(`in the palette, by keys and above ${where}`, async () => {
      at.person.answers = { ...at.person.answers, pick: "short" };
      await open();
      const { document } = vscode.window.activeTextEditor!;
      if (document.languageId !== language.id)
        for (const command of await lenses(document.uri))
          await at.pressCommand(command, `the lens of ${where}`);
      for (const offer of at.offered(["palette", "key"], {
        ...editorOf(document),
        "gradus.forkPending": true,
      })) {
        if (at.hasPressed(offer)) continue;
        // The site in this folder is for configs of other trainers.
        // A fork from the last step of a run that has ended would have no step left to train.
        const pick = offer.command === "gradus.run.startOn" ? "this machine" : ["short", "Step 3"];
        at.person.answers = { ...at.person.answers, pick };
        // The newest run is the one that is picked: a press before this one may have started it.
        if (offer.command === "gradus.run.delete") await at.stage.endLive();
        await open();
        await at.press(offer, where);
      }
      await at.stage.endLive();
    });

  it("and nothing is offered in any other editor", () =>
    assert.deepEqual(at.left(["palette", "key", "editor/title", "editor/title/run", "editor/context"]), []));
});
