/** Gradus: Find a Paper. What there is of a paper opens: a config of its preset, or the page of the command that serves it. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Uri, commands as editor, env, window, workspace, type Disposable } from "vscode";
import { language } from "../../../shared/editor/contributions.ts";
import { rowsOf, slotOfPaper, type Paper, type PaperRow } from "../../../shared/editor/papers.ts";
import { printed, type CommandLine } from "../../vscode/commandLine.ts";
import { register } from "../../vscode/commands.ts";

export const registerPaperCommand = (commandLine: () => CommandLine): Disposable =>
  register("paperFind", () => find(commandLine()));

async function find(commandLine: CommandLine): Promise<void> {
  const chosen = await window.showQuickPick(listed(commandLine), {
    title: "Find a Paper",
    placeHolder: "Words of a title, an arXiv id, a preset, or what it does",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (chosen !== undefined) await open(commandLine, chosen.paper);
}

async function listed(commandLine: CommandLine): Promise<PaperRow[]> {
  const papers: readonly Paper[] = JSON.parse(await printed(commandLine, ["papers", "--json"]));
  return rowsOf(papers);
}

async function open(commandLine: CommandLine, paper: Paper): Promise<void> {
  const preset = await presetOf(paper);
  if (preset !== undefined) return openConfig(commandLine, preset);
  if (paper.presets.length > 0) return;
  const slot = slotOfPaper(paper);
  const page = slot === undefined ? undefined : pageOf(commandLine, slot);
  if (page !== undefined) return void (await editor.executeCommand("markdown.showPreview", Uri.file(page)));
  await sayCommand(paper);
}

/** A paper in several versions has a preset each. Undefined: it has none, or the person changed their mind. */
async function presetOf({ title, presets, follows = "" }: Paper): Promise<string | undefined> {
  if (presets.length < 2) return presets[0];
  const rows = presets.map((label) => ({ label, detail: versionOf(label, follows) }));
  return (await window.showQuickPick(rows, { title }))?.label;
}

/** `follows` has a line a preset where there are several. */
const versionOf = (preset: string, follows: string): string =>
  follows
    .split("\n")
    .find((line) => line.startsWith(`${preset}: `))
    ?.slice(preset.length + 2) ?? "";

/** Opened, not written: the person decides where it goes. */
async function openConfig(commandLine: CommandLine, preset: string): Promise<void> {
  const content = await printed(commandLine, ["presets", preset]);
  await window.showTextDocument(await workspace.openTextDocument({ language: language.id, content }));
}

/** The build writes a page for each slot next to the command line. */
function pageOf({ cli }: CommandLine, slot: string): string | undefined {
  const page = join(dirname(cli), "docs", "methods", `${slot}.md`);
  return existsSync(page) ? page : undefined;
}

async function sayCommand({ title, commands, follows = "" }: Paper): Promise<void> {
  const [command] = commands;
  if (command === undefined)
    return void window.showInformationMessage(`Gradus has nothing of "${title}" yet.`);
  const copy = "Copy Command";
  const chosen = await window.showInformationMessage(
    `${follows} Command: ${commands.join(" · ")}`.trim(),
    copy,
  );
  if (chosen === copy) await env.clipboard.writeText(command);
}
