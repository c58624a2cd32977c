/** The sweep of a config: run by the command line, and its runs compared. */
import type { Disposable } from "vscode";
import { runsList } from "../../../shared/protocol/protocol.ts";
import { mostCompared } from "../../../shared/run/comparison.ts";
import { Nothing, execute, register } from "../../vscode/commands.ts";
import type { CommandLine } from "../../vscode/commandLine.ts";
import { runInTerminal } from "../../vscode/terminal.ts";
import type { Stores } from "../connection/stores.ts";
import type { MayStart } from "./commands.ts";
import { pickConfig, pickSavedConfig } from "./pick.ts";

export function registerSweepCommands(
  stores: Stores,
  mayStart: MayStart,
  commandLine: () => CommandLine,
): readonly Disposable[] {
  return [
    register("runSweep", async (word) => {
      const uri = await pickSavedConfig(word, "Run Sweep");
      if (uri !== undefined && (await mayStart(uri)))
        await runInTerminal(commandLine(), ["run", uri.fsPath], "Sweep");
    }),
    register("runCompareSweep", async (word) => {
      const uri = await pickConfig(word, "Compare Runs of Sweep");
      if (uri === undefined) return;
      const session = await stores.session(stores.ofFile(uri));
      const ofFile = `file == ${JSON.stringify(uri.fsPath)} and tag ~ "^sweep:"`;
      const [last] = (await session.ask(runsList, { where: ofFile, limit: 1 })).runs;
      const tag = last?.tags?.find((one) => one.startsWith("sweep:"));
      if (tag === undefined)
        throw new Nothing(
          "No sweep of this config has run yet.",
          "Start it with Run Sweep above the config.",
        );
      const where = `tag == ${JSON.stringify(tag)}`;
      const { runs } = await session.ask(runsList, { where, limit: mostCompared });
      // A row that is a family of runs.
      await execute("runCompare", { family: { all: runs } }, []);
    }),
  ];
}
