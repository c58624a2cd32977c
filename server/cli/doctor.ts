import { colours as pc } from "./text/colours.ts";
import {
  checkBrowser,
  checkCompiler,
  checkData,
  checkEngine,
  checkNode,
  checkPython,
  checkSqlite,
  checkStore,
  type Check,
} from "./doctor/checks.ts";
import { checkDaemon } from "./doctor/daemon.ts";
import { checkMathTerms } from "./doctor/mathTerms.ts";
import { checkMemory } from "./doctor/memory.ts";
import { checkModel, checkModels, isModel } from "./doctor/models.ts";
import { checkPythonRewards } from "./doctor/pythonRewards.ts";
import { checkSandbox } from "./doctor/sandbox.ts";
import { daemonState, storeOf } from "./runs/store.ts";
import { setupRecord } from "../lib/natives.ts";
import { exit, print, printJson, type Command } from "./command.ts";

const marks = {
  ok: pc.green("ok      "),
  missing: pc.red("missing "),
  optional: pc.yellow("optional"),
} as const;

function printChecks(checks: readonly Check[]): void {
  const width = Math.max(...checks.map(({ name }) => name.length));
  for (const { name, status, detail, fix } of checks) {
    print(`${marks[status]}  ${name.padEnd(width)}  ${detail}`);
    if (fix !== undefined && status !== "ok") print(`${" ".repeat(width + 12)}→ ${fix}`);
  }
}

async function examine(json: boolean, path: string | undefined): Promise<void> {
  const model = path !== undefined && isModel(path);
  const config = model ? undefined : path;
  const store = storeOf(undefined);
  const [engine, compiler, python, sqlite, browser, daemon, rewards, maths, sandbox] = await Promise.all([
    checkEngine(),
    checkCompiler(),
    checkPython(),
    checkSqlite(),
    checkBrowser(),
    checkDaemon(store, () => daemonState(store)),
    config === undefined ? [] : checkPythonRewards(config),
    checkMathTerms(config, process.cwd()),
    checkSandbox(config),
  ]);
  const checks: Check[] = [
    checkNode(),
    sqlite,
    engine,
    ...compiler,
    python,
    browser,
    checkData(),
    checkStore(process.cwd()),
    daemon,
    ...(model ? checkModel(path) : config === undefined ? [] : checkModels(config)),
    ...rewards,
    ...maths,
    sandbox,
    checkMemory(config),
  ];
  const ok = checks.every(({ status }) => status !== "missing");
  if (json)
    printJson({
      ok,
      backend: { name: engine.backend, reason: engine.detail },
      node: setupRecord()?.node ?? null,
      checks: checks.map(({ name, status, detail, fix }) => ({
        name,
        status,
        detail,
        ...(fix === undefined ? {} : { mend: fix }),
      })),
    });
  else {
    printChecks(checks);
    print(
      ok
        ? pc.green("Everything that a run needs is installed.")
        : "Do what the arrows say, then run `gradus doctor` again.",
    );
  }
  process.exitCode = ok ? exit.ok : exit.failed;
}

export const command: Command = {
  name: "doctor",
  configure: (program) =>
    void program
      .argument(
        "[config]",
        "also predicts how much memory a run of this config needs, and looks at the Python of its rewards; of a model (a folder or a .gguf file): its context, and what its chat template does over turns",
      )
      .option(
        "--trust-workspace",
        "start the Pythons that the config or its folder names, to look at their packages",
      )
      .option("--json", "one JSON value: {ok, backend, node, checks}")
      .action((config: string | undefined, { json }: { json?: boolean }) => examine(json === true, config)),
};
