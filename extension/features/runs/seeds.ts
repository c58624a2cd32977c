/** A config run once for each of several seeds, so that a difference can be told from luck. */
import { randomUUID } from "node:crypto";
import { window, workspace, type Disposable, type Uri } from "vscode";
import { views } from "../../../shared/editor/contributions.ts";
import { runsStart } from "../../../shared/protocol/protocol.ts";
import { register } from "../../vscode/commands.ts";
import { withBar, type Stores } from "../connection/stores.ts";
import { pythonPath } from "../language/python.ts";
import type { MayStart } from "./commands.ts";
import { pickSavedConfig } from "./pick.ts";

const usual = 3;

export function registerSeedsCommand(stores: Stores, mayStart: MayStart): Disposable {
  return register("runSeeds", async (word) => {
    const uri = await pickSavedConfig(word, "Start Runs over Seeds");
    if (uri === undefined) return;
    const first = await firstSeed(uri);
    const text = await window.showInputBox({
      title: "Start Runs over Seeds",
      value: Array.from({ length: usual }, (_, at) => first + at).join(", "),
      prompt: "A run of its own for each; they train at the same time.",
      validateInput: (typed) =>
        seedsIn(typed) === undefined ? "Whole numbers, separated by commas." : undefined,
    });
    const seeds = text === undefined ? undefined : seedsIn(text);
    if (seeds === undefined || !(await mayStart(uri))) return;
    const session = await stores.session(stores.ofFile(uri));
    await withBar(views.runs, async () => {
      for (const seed of seeds)
        await session.ask(runsStart, { file: uri.fsPath, seed, key: randomUUID(), python: pythonPath() });
    });
  });
}

function seedsIn(text: string): readonly number[] | undefined {
  const seeds = text.split(",").map((part) => Number(part.trim() === "" ? Number.NaN : part));
  return seeds.every(Number.isSafeInteger) ? [...new Set(seeds)] : undefined;
}

/** The seed that the config writes at its top level, else 1. */
async function firstSeed(uri: Uri): Promise<number> {
  const document = await workspace.openTextDocument(uri);
  return Number(/^seed:\s*(\d+)/m.exec(document.getText())?.[1] ?? 1);
}
