/** What can be done with a checkpoint besides a fork: each is a command of the command line, run in a terminal. */
import { Uri, window, workspace, type Disposable } from "vscode";
import { UserError } from "../../../shared/lib/errors.ts";
import { register } from "../../vscode/commands.ts";
import type { CommandLine } from "../../vscode/commandLine.ts";
import { runInTerminal } from "../../vscode/terminal.ts";
import type { Stores } from "../connection/stores.ts";

interface Checkpoint {
  readonly run: string;
  readonly step: number;
  readonly path: string;
}

export function registerCheckpointCommands(
  stores: Stores,
  commandLine: () => CommandLine,
): readonly Disposable[] {
  const run = (words: readonly string[], title: string): Thenable<unknown> =>
    runInTerminal(commandLine(), words, title);
  return [
    register("checkpointSample", async (word) => {
      const { path, step } = checkpointIn(word);
      await run(["sample", path], `Sample Step ${step}`);
    }),
    register("checkpointEvaluate", async (word) => {
      const { path, step, run: id } = checkpointIn(word);
      const file = stores.ofRun(id)?.runs.find(id)?.file;
      if (file === undefined) throw new UserError(`Run ${id} is not in the store of this workspace.`);
      await run(["evaluate", path, file], `Evaluate Step ${step}`);
    }),
    register("checkpointExport", (word) => exportModel(checkpointIn(word))),
  ];

  async function exportModel({ path, step }: Checkpoint): Promise<void> {
    const forms = [
      { label: "hf", description: "a Hugging Face folder" },
      { label: "gguf", description: "one file for llama.cpp and others" },
      { label: "peft", description: "an adapter, of a run that trained one" },
    ];
    const form = await window.showQuickPick(forms, { title: `Export the Checkpoint of Step ${step} as` });
    if (form === undefined) return;
    const name = form.label === "gguf" ? `step-${step}.gguf` : `step-${step}-${form.label}`;
    const folder = workspace.workspaceFolders?.[0]?.uri;
    const place = await window.showSaveDialog({
      title: "Export Model to",
      ...(folder === undefined ? {} : { defaultUri: Uri.joinPath(folder, name) }),
    });
    if (place === undefined) return;
    await run(["runs", "export", path, "--to", form.label, "--out", place.fsPath], `Export Step ${step}`);
  }
}

function checkpointIn(word: unknown): Checkpoint {
  if (typeof word === "object" && word !== null && "run" in word && "step" in word && "path" in word) {
    const { run, step, path } = word;
    if (typeof run === "string" && typeof step === "number" && typeof path === "string")
      return { run, step, path };
  }
  throw new UserError("No checkpoint is chosen.", {
    action: "Use the menu of a checkpoint in the runs view.",
  });
}
