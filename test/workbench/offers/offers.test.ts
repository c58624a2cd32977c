/** Rows, titles and links of the views: each command there is run as the editor runs it, and none leads to an error. */
import * as assert from "node:assert/strict";
import { join } from "node:path";
import * as vscode from "vscode";
import type { Api } from "../../../extension/extension.ts";
import { commands, views } from "../../../shared/editor/contributions.ts";
import type { RunSummary } from "../../../shared/protocol/protocol.ts";
import { holds, type Context, type Offer } from "../../support/offers.ts";
import { Offering } from "../offering.ts";
import { finishedOfVerl, until } from "../support.ts";

type Node = Parameters<Api["runs"]["getTreeItem"]>[0];

describe("what the views offer, pressed where it is offered", () => {
  let at: Offering;
  before(async () => {
    at = await Offering.open();
    at.person.answers = { pick: "short", file: finishedOfVerl(join(at.folder, "theirs")) };
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

  presses("before there is a run: welcome views and the walkthrough", async () => {
    const context = { ...at.around(), view: views.runs };
    const links = [...at.offered(["welcome"], context), ...at.offered(["walkthrough"], context)];
    // Those that start a run come last.
    const starts = ({ command }: Offer): number => Number(command === "gradus.run.start");
    for (const offer of links.toSorted((a, b) => starts(a) - starts(b))) {
      await vscode.window.showTextDocument(at.stage.short);
      await at.press(offer, "no run");
    }
    assert.ok(links.some(({ command }) => command === "gradus.rescore.open"));
    await until(() => at.api.stores.runs.length > 0, "the run that was started");
    await at.stage.endLive();
  });

  const rowNode = (run: RunSummary): Node => ({ kind: "run", run });
  /** Presses what a row offers. @param reach makes the row again: a command may have changed it */
  const pressRow = async (
    where: string,
    reach: () => Promise<Node>,
    view: string = views.runs,
  ): Promise<void> => {
    const rows = { getTreeItem: (node: Node) => at.api.runs.getTreeItem(node) };
    const contextOf = (node: Node): Context => ({
      ...at.around(),
      view,
      viewItem: rows.getTreeItem(node).contextValue ?? "",
    });
    const first = await reach();
    const { command } = rows.getTreeItem(first);
    if (command !== undefined) await at.pressCommand(command, where);
    const listed = at.offered(["view/item/context"], contextOf(first));
    // After it there is another row.
    const last = ({ command }: Offer): number => Number(command === "gradus.run.delete");
    const commands = [...new Map(listed.map((offer) => [offer.command, offer])).values()].toSorted(
      (a, b) => last(a) - last(b),
    );
    for (const offer of commands) {
      const node = await reach();
      assert.ok(holds(offer.when, contextOf(node)), `${where} is another row: ${offer.command}`);
      await at.press(offer, where, node, [node]);
    }
    at.pressedToo(listed);
  };

  for (const state of ["running", "paused", "stopped", "interrupted", "finished"] as const)
    presses(`on the row of a run that is ${state}`, () =>
      pressRow(state, async () => rowNode(await at.stage.reach(state))),
    );

  presses("on rows of runs that are pinned and archived", async () => {
    await pressRow("pinned", async () => rowNode(await at.stage.reach("finished", { pinned: true })));
    await pressRow("archived", async () => rowNode(await at.stage.reach("finished", { archived: true })));
  });

  presses("on the row of a run of another trainer, which the explorer's menu has imported", async () => {
    const theirs = (): RunSummary | undefined =>
      at.api.stores.runs.find(({ origin, status }) => origin?.trainer === "verl" && status === "finished");
    const reach = async (): Promise<Node> => {
      const there = theirs();
      if (there !== undefined && there.archived !== true && there.pinned !== true) return rowNode(there);
      for (const mark of ["unarchive", "unpin"])
        if (there !== undefined) await vscode.commands.executeCommand(`gradus.run.${mark}`, there.id);
      const uri = vscode.Uri.file(join(at.folder, "theirs"));
      for (const offer of there === undefined
        ? at.offered(["explorer/context"], { ...at.around(), explorerResourceIsFolder: true })
        : [])
        await at.press(offer, "a folder", uri, [uri]);
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
        const found = await below(kind, await at.api.runs.getChildren(node)).catch(() => undefined);
        if (found !== undefined) return found;
      }
      throw new Error(`there is no row of a ${kind}`);
    };
    for (const kind of ["step", "checkpoint"] as const)
      await pressRow(`a ${kind}`, async () => below(kind, [rowNode(await at.stage.reach("finished"))]));
    while (at.api.stores.runs.filter(({ name }) => name === "short").length < 2)
      await at.stage.start(at.stage.short, "finished");
    // The runs of a single config have no family's row.
    await at.stage.reach("running");
    await pressRow("a family", async () => below("family", await at.api.runs.getChildren()));
  });

  presses("on a config's row, and in the titles of the views", async () => {
    const row = { uri: at.stage.short };
    const { contextValue = "", command } = at.api.configs.getTreeItem(row);
    if (command !== undefined) await at.pressCommand(command, "a config's row");
    for (const offer of at.offered(["view/item/context"], {
      ...at.around(),
      view: views.configs,
      viewItem: contextValue,
    }))
      await at.press(offer, "a config's row", row, [row]);
    for (const view of [views.runs, views.configs])
      for (const filtered of [true, false])
        for (const offer of at.offered(["view/title"], {
          ...at.around(),
          view,
          "gradus.runsFiltered": filtered,
        }))
          if (!at.hasPressed(offer)) await at.press(offer, `the title of ${view}`);
    await at.stage.endLive();
  });

  it("and nothing is offered on any other row", () =>
    assert.deepEqual(at.left(["view/item/context", "view/title", "welcome", "walkthrough"]), []));

  it("hands a name to the program as it is: no shell comes between", async () => {
    const path = "/a b/$(touch it)/'1'";
    const checkpoint = { run: "one", step: 1, path };
    await vscode.commands.executeCommand(commands.checkpointSample, checkpoint);
    const [, ...words] = at.person.started.at(-1) ?? [];
    assert.deepEqual(words.slice(-2), ["sample", path]);
    // In a terminal, too: no such checkpoint is there.
    at.person.getUp();
    const ended = new Promise<number | undefined>((resolve) => {
      const listening = vscode.tasks.onDidEndTaskProcess(({ exitCode }) => {
        listening.dispose();
        resolve(exitCode);
      });
    });
    await vscode.commands.executeCommand(commands.checkpointSample, checkpoint);
    assert.equal(await ended, 1);
  });
});
