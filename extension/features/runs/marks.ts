/** Tags, notes, pins and the archive, of one run or of all that are selected. */
import { window, type Disposable } from "vscode";
import { runsMark, type InputOf, type RunSummary } from "../../../shared/protocol/protocol.ts";
import { register } from "../../vscode/commands.ts";
import type { Stores } from "../connection/stores.ts";
import { pickRuns } from "./pick.ts";

type Marks = Omit<InputOf<typeof runsMark>, "run">;

export function registerMarkCommands(
  stores: Stores,
  selected: () => readonly unknown[],
): readonly Disposable[] {
  const marking =
    (title: string, change: (run: RunSummary) => Marks) =>
    async (word: unknown, more: unknown): Promise<void> => {
      for (const run of await pickRuns(stores, word, more ?? selected(), title)) await mark(run, change(run));
    };
  return [
    register(
      "runPin",
      marking("Pin Run", () => ({ pinned: true })),
    ),
    register(
      "runUnpin",
      marking("Unpin Run", () => ({ pinned: false })),
    ),
    register(
      "runArchive",
      marking("Archive Run", () => ({ archived: true })),
    ),
    register(
      "runUnarchive",
      marking("Restore Run", () => ({ archived: false })),
    ),
    register("runTag", (word, more) => tag(word, more)),
    register("runNote", (word) => note(word)),
  ];

  async function mark(run: RunSummary, change: Marks): Promise<void> {
    await (await stores.session(stores.ofRun(run.id))).ask(runsMark, { run: run.id, ...change });
  }

  /** Tags that all of the runs have can be changed; tags of single runs stay. */
  async function tag(word: unknown, more: unknown): Promise<void> {
    const runs = await pickRuns(stores, word, more ?? selected(), "Tag Run");
    const [first] = runs;
    if (first === undefined) return;
    const common = (first.tags ?? []).filter((one) => runs.every(({ tags = [] }) => tags.includes(one)));
    const known = [...new Set(stores.runs.flatMap(({ tags = [] }) => tags))].sort();
    const text = await window.showInputBox({
      title: runs.length === 1 ? `Tags of ${first.name}` : `Tags of ${runs.length} Runs`,
      value: common.join(", "),
      prompt:
        known.length === 0 ? "Separated by commas." : `Separated by commas. In use: ${known.join(", ")}`,
    });
    if (text === undefined) return;
    const wanted = text.split(",").map((one) => one.trim());
    for (const run of runs)
      await mark(run, { tags: [...(run.tags ?? []).filter((one) => !common.includes(one)), ...wanted] });
  }

  async function note(word: unknown): Promise<void> {
    const [run] = await pickRuns(stores, word, undefined, "Write Note of Run");
    if (run === undefined) return;
    const text = await window.showInputBox({
      title: `Note of ${run.name}`,
      value: run.note ?? "",
      prompt: "What was tried, what came of it. Empty: no note.",
    });
    if (text !== undefined) await mark(run, { note: text });
  }
}
