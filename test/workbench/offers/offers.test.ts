/** Each command that the editor offers is run from the place where it is offered: none leads to an error. */
import * as assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import type { Api } from "../../../extension/extension.ts";
import { language, views } from "../../../shared/editor/contributions.ts";
import type { RunSummary } from "../../../shared/protocol/protocol.ts";
import { holds, nameOf, offersOf, type Context, type Contributes, type Offer } from "../../support/offers.ts";
import { farConfig, standInTrainer } from "../../support/standInTrainer.ts";
import { Person } from "../person.ts";
import { activated, config, id, ready, stopEverything, until } from "../support.ts";
import { Stage } from "./stage.ts";

/** What cannot be pressed here, and why. */
const elsewhere: Readonly<Record<string, string>> = {
  "gradus.engine.setUp": "it would build the checkout that is tested",
  "gradus.reward.attack": "it takes a minute; the suite `project` starts a shorter one from its line",
};
/** Windows and daemons that this one is not: their links are commands that the palette has as well, or the suite `trainer`. */
const otherWindow =
  /workspaceFolderCount == 0|!isWorkspaceTrusted|daemonState (== (failed|nodePath|setUp|disconnected)|=~ \/\^\(starting)|!gradus\.hasConfigs/;

type Node = Parameters<Api["runs"]["getTreeItem"]>[0];

describe("what the editor offers, pressed where it is offered", function () {
  this.timeout(180_000);
  const person = new Person();
  const pressed = new Set<string>();
  let wrong: string[] = [];
  let api: Api;
  let stage: Stage;
  let folder = "";
  let offers: readonly Offer[] = [];

  before(async () => {
    api = await activated();
    await ready(api);
    const tiny = await config("tiny.gradus.yaml");
    folder = vscode.Uri.joinPath(tiny, "..").fsPath;
    stage = new Stage(api, tiny);
    const root = vscode.extensions.getExtension(id)!.extensionPath;
    const { contributes } = vscode.extensions.getExtension(id)!.packageJSON as { contributes: Contributes };
    const words = JSON.parse(readFileSync(join(root, "package.nls.json"), "utf8")) as Record<string, string>;
    offers = offersOf(contributes, words);
    cpSync(join(root, "test", "fixtures", "imported", "verl"), join(folder, "theirs"), { recursive: true });
    // What a run comes to is no answer to a command.
    const notices = vscode.workspace.getConfiguration("gradus.notifications");
    for (const name of ["runEnded", "alarm"]) await notices.update(name, false);
    person.answers = { pick: "short", file: vscode.Uri.file(join(folder, "theirs")) };
    person.sitDown();
  });
  after(async () => {
    person.getUp();
    await stopEverything(api);
  });
  /** Presses all of a place, then says what went wrong. */
  const presses = (name: string, act: () => Promise<void>): unknown =>
    it(name, async () => {
      await act();
      const found = wrong;
      wrong = [];
      assert.deepEqual(found, []);
    });

  const around = (): Context => ({
    isWorkspaceTrusted: true,
    workspaceFolderCount: 1,
    "gradus.daemonState": api.stores.state,
    "gradus.hasConfigs": true,
    "gradus.hasRuns": api.stores.runs.length > 0,
  });
  const offered = (places: readonly string[], context: Context): readonly Offer[] =>
    offers.filter(
      ({ place, command, when }) => places.includes(place) && !(command in elsewhere) && holds(when, context),
    );
  const press = async (offer: Offer, where: string, ...words: readonly unknown[]): Promise<void> => {
    pressed.add(nameOf(offer));
    for (const error of await person.press(offer.command, ...words))
      wrong.push(`${offer.place}, ${where}: ${offer.command}: ${error}`);
    // A config without a file would ask about its changes at the end.
    if (vscode.window.activeTextEditor?.document.isUntitled === true)
      await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
    if (!/daemon|refresh/.test(offer.command)) return;
    // Whoever stops the daemon starts it again.
    for (const { machine } of api.stores.all)
      if (machine.state.state === "disconnected") await machine.start();
    await ready(api);
  };
  const pressCommand = async (command: vscode.Command, where: string): Promise<void> => {
    for (const error of await person.press(command.command, ...((command.arguments ?? []) as unknown[])))
      wrong.push(`${where}: ${command.title} (${command.command}): ${error}`);
  };

  presses("before there is a run: welcome views and the walkthrough", async () => {
    const context = { ...around(), view: views.runs };
    const links = [...offered(["welcome"], context), ...offered(["walkthrough"], context)];
    // Those that start a run come last.
    const starts = ({ command }: Offer): number => Number(command === "gradus.run.start");
    for (const offer of links.toSorted((a, b) => starts(a) - starts(b))) {
      await vscode.window.showTextDocument(stage.short);
      await press(offer, "no run");
    }
    assert.ok(links.some(({ command }) => command === "gradus.rescore.open"));
    await until(() => api.stores.runs.length > 0, "the run that was started");
    await stage.endLive();
  });

  const rowNode = (run: RunSummary): Node => ({ kind: "run", run });
  /** Presses what a row offers. @param reach makes the row again: a command may have changed it */
  const pressRow = async (
    where: string,
    reach: () => Promise<Node>,
    view: string = views.runs,
  ): Promise<void> => {
    const rows = { getTreeItem: (node: Node) => api.runs.getTreeItem(node) };
    const contextOf = (node: Node): Context => ({
      ...around(),
      view,
      viewItem: rows.getTreeItem(node).contextValue ?? "",
    });
    const first = await reach();
    const { command } = rows.getTreeItem(first);
    if (command !== undefined) await pressCommand(command, where);
    const listed = offered(["view/item/context"], contextOf(first));
    const commands = [...new Map(listed.map((offer) => [offer.command, offer])).values()];
    for (const offer of commands) {
      const node = await reach();
      assert.ok(holds(offer.when, contextOf(node)), `${where} is another row: ${offer.command}`);
      await press(offer, where, node, [node]);
    }
    for (const offer of listed) pressed.add(nameOf(offer));
  };

  for (const state of ["running", "paused", "stopped", "interrupted", "finished"] as const)
    presses(`on the row of a run that is ${state}`, () =>
      pressRow(state, async () => rowNode(await stage.reach(state))),
    );

  presses("on rows of runs that are pinned and archived", async () => {
    await pressRow("pinned", async () => rowNode(await stage.marked("finished", "pin")));
    await pressRow("archived", async () => rowNode(await stage.marked("finished", "archive")));
  });

  presses("on the row of a run of another trainer, which the explorer's menu has imported", async () => {
    const theirs = (): RunSummary | undefined =>
      api.stores.runs.find(({ origin, status }) => origin?.trainer === "verl" && status === "finished");
    const reach = async (): Promise<Node> => {
      const there = theirs();
      if (there !== undefined && there.archived !== true && there.pinned !== true) return rowNode(there);
      for (const mark of ["unarchive", "unpin"])
        if (there !== undefined) await vscode.commands.executeCommand(`gradus.run.${mark}`, there.id);
      const uri = vscode.Uri.file(join(folder, "theirs"));
      for (const offer of there === undefined
        ? offered(["explorer/context"], { ...around(), explorerResourceIsFolder: true })
        : [])
        await press(offer, "a folder", uri, [uri]);
      return until(() => {
        const run = theirs();
        return run !== undefined && run.archived !== true && run.pinned !== true && rowNode(run);
      }, "the imported run");
    };
    await pressRow("imported", reach);
  });

  presses("on the rows below a run, and on a family's", async () => {
    const below = async (kind: Node["kind"], of: readonly Node[]): Promise<Node> => {
      for (const node of of) {
        if (node.kind === kind) return node;
        const found = await below(kind, await api.runs.getChildren(node)).catch(() => undefined);
        if (found !== undefined) return found;
      }
      throw new Error(`there is no row of a ${kind}`);
    };
    for (const kind of ["step", "checkpoint"] as const)
      await pressRow(`a ${kind}`, async () => below(kind, [rowNode(await stage.reach("finished"))]));
    await stage.start(stage.short, "finished");
    await pressRow("a family", async () => below("family", await api.runs.getChildren()));
  });

  presses("on a config's row, and in the titles of the views", async () => {
    const row = { uri: stage.short };
    const { contextValue = "", command } = api.configs.getTreeItem(row);
    if (command !== undefined) await pressCommand(command, "a config's row");
    for (const offer of offered(["view/item/context"], {
      ...around(),
      view: views.configs,
      viewItem: contextValue,
    }))
      await press(offer, "a config's row", row, [row]);
    for (const view of [views.runs, views.configs])
      for (const filtered of [true, false])
        for (const offer of offered(["view/title"], { ...around(), view, "gradus.runsFiltered": filtered }))
          await press(offer, `the title of ${view}`);
    await stage.endLive();
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
    ...around(),
    editorTextFocus: true,
    resourceScheme: uri.scheme,
    resourceLangId: languageId,
    resourceFilename: uri.path.split("/").at(-1) ?? "",
  });

  presses("above configs", async () => {
    const live = await stage.reach("running");
    for (const uri of [vscode.Uri.file(live.file), stage.short, stage.swept]) {
      await vscode.window.showTextDocument(uri);
      const found = await until(async () => {
        const shown = await lenses(uri);
        return shown.length > 1 && shown;
      }, "lenses");
      for (const command of found) await pressCommand(command, `the lens of ${uri.path.split("/").at(-1)}`);
    }
    await stage.endLive();
  });

  presses("in the menus of a config, and of one that a fork is made of", async () => {
    const python = standInTrainer(folder);
    writeFileSync(join(folder, "pace"), "6");
    const site = `kind: here\nfolder: ${join(folder, "far")}\npython: ${python}\n`;
    await vscode.workspace.fs.createDirectory(vscode.Uri.file(join(folder, "sites")));
    writeFileSync(join(folder, "sites", "lab.yaml"), site);
    const far = vscode.Uri.file(join(folder, "far.gradus.yaml"));
    writeFileSync(far.fsPath, farConfig);
    const menus = ["editor/title", "editor/title/run", "editor/context", "explorer/context"];
    const document = await vscode.workspace.openTextDocument(stage.short);
    for (const offer of offered(menus, editorOf(document))) {
      const uri = offer.command === "gradus.run.startOn" ? far : stage.short;
      person.answers = { ...person.answers, pick: offer.command === "gradus.run.startOn" ? "lab" : "short" };
      await vscode.window.showTextDocument(uri);
      await press(offer, "a config", uri);
    }
    const run = await stage.reach("finished");
    await vscode.commands.executeCommand("gradus.run.fork", run.id, 2);
    for (const offer of offered(menus, { ...editorOf(document), "gradus.forkPending": true }))
      await press(offer, "a config to fork", stage.short);
    await stage.endLive();
  });

  /** Documents, each opened from the one before as a person does. */
  const opened: readonly [string, () => Promise<unknown>][] = [
    ["a config", async () => vscode.window.showTextDocument(stage.short)],
    [
      "a reward's file",
      async () => {
        writeFileSync(join(folder, "reward.ts"), "export const reward = () => 1;\n");
        await vscode.window.showTextDocument(vscode.Uri.file(join(folder, "reward.ts")));
      },
    ],
    [
      "rollouts of a step",
      async () =>
        vscode.commands.executeCommand("gradus.rollouts.open", (await stage.reach("finished")).id, 4),
    ],
    [
      "a rollout",
      async () => {
        await vscode.commands.executeCommand("gradus.rollouts.open", (await stage.reach("finished")).id, 4);
        const { document } = vscode.window.activeTextEditor!;
        const links = await vscode.commands.executeCommand<vscode.DocumentLink[]>(
          "vscode.executeLinkProvider",
          document.uri,
        );
        const { path = "", query = "[]" } =
          links.find(({ target }) => target?.scheme === "command")?.target ?? {};
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
      person.answers = { ...person.answers, pick: "short" };
      await open();
      const { document } = vscode.window.activeTextEditor!;
      if (document.languageId !== language.id)
        for (const command of await lenses(document.uri)) await pressCommand(command, `the lens of ${where}`);
      for (const offer of offered(["palette", "key"], {
        ...editorOf(document),
        "gradus.forkPending": true,
      })) {
        if (pressed.has(nameOf(offer))) continue;
        await open();
        await press(offer, where);
      }
      await stage.endLive();
    });

  it("and nothing is offered anywhere else", () => {
    const left = offers
      .filter(({ place, command, when }) => {
        const hidden = place === "palette" && when.startsWith("false");
        return !hidden && !(command in elsewhere) && !(place === "welcome" && otherWindow.test(when));
      })
      .filter((offer) => !pressed.has(nameOf(offer)));
    assert.deepEqual(left.map(nameOf), []);
  });
});
