import * as assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import type { Api } from "../../../extension/extension.ts";
import { farConfig, standInTrainer } from "../../support/standInTrainer.ts";
import { activated, config, ready, stopEverything, until } from "../support.ts";

describe("a run, from the editor", () => {
  let api: Api;
  let uri: vscode.Uri;
  before(async () => {
    api = await activated();
    await ready(api);
    uri = await config("tiny.gradus.yaml");
  });
  after(() => stopEverything(api));

  const only = () => api.stores.runs[0];
  const tabs = (): string[] =>
    vscode.window.tabGroups.all.flatMap((group) => group.tabs.map(({ label }) => label));

  it("starts from its config, and its panel opens", async () => {
    await vscode.commands.executeCommand("gradus.run.start", uri);
    const run = await until(only, "a run");
    assert.equal(run.name, "tiny");
    await until(() => tabs().some((label) => label === "tiny" || label === run.id), "the run's panel");
  });

  it("is followed: steps arrive, and the lens says where it is", async () => {
    await until(() => (only()?.step ?? -1) >= 10, "ten steps");
    await vscode.window.showTextDocument(uri);
    await until(async () => {
      const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
        "vscode.executeCodeLensProvider",
        uri,
        10,
      );
      return (
        lenses.some(({ command }) => /Stop/.test(command?.title ?? "")) &&
        lenses.some(({ command }) => /Step \d+ of \d+/.test(command?.title ?? ""))
      );
    }, "the live lens");
  });

  it("shows the rollouts of a step as a document with an outline", async () => {
    const run = only();
    assert.ok(run);
    const step = Math.max(8, run.step - 1);
    await vscode.commands.executeCommand("gradus.rollouts.open", run.id, step);
    const document = await until(
      () =>
        vscode.window.activeTextEditor?.document.uri.scheme === "gradus-rollouts" &&
        vscode.window.activeTextEditor.document,
      "the rollouts",
    );
    assert.match(document.getText(), /^tiny · step \d+\n4 groups, 16 rollouts/);
    assert.match(document.getText(), /reward \S+ {3}advantage/);
    const symbols = await vscode.commands.executeCommand<vscode.DocumentSymbol[]>(
      "vscode.executeDocumentSymbolProvider",
      document.uri,
    );
    assert.equal(symbols.length, 4);
    assert.equal(symbols[0]?.children.length, 4);
  });

  it("pauses and goes on", async () => {
    const run = only();
    assert.ok(run);
    await vscode.commands.executeCommand("gradus.run.pause", run.id);
    const paused = await until(() => only()?.status === "paused" && only(), "the pause");
    await vscode.commands.executeCommand("gradus.run.resume", run.id);
    await until(
      () => only()?.status === "running" && (only()?.step ?? 0) > paused.step,
      "a step after the pause",
    );
  });

  it("stops, and its log says so", async () => {
    const run = only();
    assert.ok(run);
    await vscode.commands.executeCommand("gradus.run.stop", run.id);
    await until(() => only()?.status === "stopped", "the stop");
    await vscode.commands.executeCommand("gradus.run.openLog", run.id);
    const log = await until(
      () =>
        vscode.window.activeTextEditor?.document.uri.scheme === "gradus-log" &&
        vscode.window.activeTextEditor.document,
      "the log",
    );
    assert.match(log.getText(), /^tiny \([^)]+\): stopped/);
  });

  it("resumes from its checkpoint as a new attempt", async () => {
    const before = only();
    assert.ok(before);
    await vscode.commands.executeCommand("gradus.run.resume", before.id);
    await until(
      () => only()?.status === "running" && (only()?.attempt ?? 0) > before.attempt,
      "the new attempt",
    );
    await vscode.commands.executeCommand("gradus.run.stop", before.id);
    await until(() => only()?.status === "stopped", "the stop");
  });

  it("comes back after a torn connection, without a message of the language client's", async () => {
    const { state } = api.stores.all[0]!.machine;
    assert.ok(state.state === "ready");
    const shown: string[] = [];
    const original = vscode.window.showErrorMessage;
    vscode.window.showErrorMessage = (message: string) => {
      shown.push(message);
      return Promise.resolve(undefined);
    };
    try {
      state.session.link.socket.destroy(new Error("read ECONNRESET"));
      await until(() => api.stores.state !== "ready", "the connection to be lost");
      await ready(api);
      assert.deepEqual(shown, []);
    } finally {
      vscode.window.showErrorMessage = original;
    }
  });

  it("is started on a site, where another trainer trains it, and is listed under its config", async () => {
    const folder = vscode.Uri.joinPath(uri, "..").fsPath;
    const python = standInTrainer(folder);
    writeFileSync(join(folder, "pace"), "6");
    mkdirSync(join(folder, "sites"));
    writeFileSync(
      join(folder, "sites", "lab.yaml"),
      `kind: here\nfolder: ${join(folder, "far")}\npython: ${python}\n`,
    );
    const far = vscode.Uri.file(join(folder, "far.gradus.yaml"));
    writeFileSync(far.fsPath, farConfig);
    await vscode.commands.executeCommand("gradus.run.startOn", far, "lab");
    const run = await until(
      () => api.stores.runs.find(({ name, status }) => name === "far" && status === "finished"),
      "the run on the site",
    );
    assert.deepEqual([run.file, run.origin?.site?.engine, run.step], [far.fsPath, "trl", 6]);
  });
});
