/** `gradus …`: also the entry of the daemon (`daemon serve`), the language server (`lsp`) and a run's worker (`worker`). */
import module from "node:module";
import { Command as Program, CommanderError, Help, type Option } from "commander";
import { exit, type Command } from "./cli/command.ts";
import { sayFailure } from "./cli/text/failure.ts";
import { holdTo, type starts } from "./cli/trust.ts";
import { leaveOutRelativePath } from "./lib/own/withheld.ts";
import summaries from "./cli/summaries.json" with { type: "json" };

declare const GRADUS_VERSION: string;

// Node 22 and newer keep what they compiled for the next start: a validation takes a quarter less of the processor.
(module as { enableCompileCache?: () => unknown }).enableCompileCache?.();

/** Loaded when called: `gradus validate` reads neither the store nor the engine. */
const commands: Readonly<Record<keyof typeof starts, () => Promise<{ command: Command }>>> = {
  init: () => import("./cli/init.ts"),
  run: () => import("./cli/run.ts"),
  check: () => import("./cli/check/index.ts"),
  validate: () => import("./cli/validate/index.ts"),
  resolve: () => import("./cli/resolve.ts"),
  convert: () => import("./cli/convert.ts"),
  explain: () => import("./cli/explain.ts"),
  reward: () => import("./cli/reward/index.ts"),
  test: () => import("./cli/test.ts"),
  judge: () => import("./cli/judge/index.ts"),
  runs: () => import("./cli/runs/runs.ts"),
  rollouts: () => import("./cli/rollouts.ts"),
  sample: () => import("./cli/sample.ts"),
  serve: () => import("./cli/serve/index.ts"),
  evaluate: () => import("./cli/evaluate/index.ts"),
  methods: () => import("./cli/catalogue/methods.ts"),
  presets: () => import("./cli/catalogue/presets.ts"),
  papers: () => import("./cli/catalogue/papers.ts"),
  rules: () => import("./cli/catalogue/rules.ts"),
  schema: () => import("./cli/catalogue/schema.ts"),
  daemon: () => import("./cli/daemon.ts"),
  doctor: () => import("./cli/doctor.ts"),
  engine: () => import("./cli/engine.ts"),
  curriculum: () => import("./cli/curriculum.ts"),
  export: () => import("./cli/export.ts"),
  hook: () => import("./cli/hook/index.ts"),
  mcp: () => import("./cli/mcp/index.ts"),
  lsp: () => import("./cli/lsp.ts"),
  worker: () => import("./cli/worker.ts"),
};
/** Those that a person calls; `worker` is started by the daemon. bin/gradus reads them before there is a bundle. */
const summary: Readonly<Record<string, string>> = summaries;

/** An option that may be given many times starts from an empty list: nothing to tell. */
const described = (option: Option): string =>
  Array.isArray(option.defaultValue) ? option.description : new Help().optionDescription(option);

/**
 * `gradus … | head`: the reader has gone, and there is no one to report to. The daemon and a run's worker, whose output
 * is a file, never end because of it.
 */
function leaveQuietly(wanted: string | undefined, second: string | undefined): void {
  const stays = wanted === "serve" || wanted === "worker" || (wanted === "daemon" && second === "serve");
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (stays) return;
      if (error.code === "EPIPE") process.exit(process.exitCode ?? exit.ok);
      throw error;
    });
}

async function main(argv: readonly string[]): Promise<void> {
  const program = new Program("gradus").version(GRADUS_VERSION).exitOverride().showHelpAfterError();
  program.configureHelp({ optionDescription: (option) => described(option) });
  const [first, second] = argv.filter((word) => !word.startsWith("-"));
  const wanted = first === "help" ? second : first;
  const words = first === "help" ? ["--help"] : argv.slice(argv.indexOf(wanted ?? "") + 1);
  leaveQuietly(wanted, second);
  leaveOutRelativePath();
  for (const [name, load] of Object.entries(commands)) {
    const sub = program
      .command(name, { hidden: summary[name] === undefined })
      .description(summary[name] ?? "started by the daemon or by another command")
      .exitOverride();
    if (name !== wanted) continue;
    await (await load()).command.configure(sub, words);
    sub.hook("preAction", (_, action) => holdTo(name as keyof typeof starts, action.opts()));
  }
  await program.parseAsync(argv, { from: "user" });
}

main(process.argv.slice(2)).catch((error: unknown) => {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? exit.ok : exit.usage;
  else process.exitCode = sayFailure(error);
});
