/** `gradus …`: also the entry of the daemon (`serve`), the language server (`lsp`) and a run's worker (`worker`). */
import { Command as Program, CommanderError, Help, type Option } from "commander";
import { UserError, messageOf } from "../shared/errors.ts";
import { visibleText } from "../shared/visibleText.ts";
import { complain, exit, type Command } from "./cli/command.ts";

declare const GRADUS_VERSION: string;

/** Loaded when called: `gradus validate` reads neither the store nor the engine. */
const commands: Readonly<
  Record<string, { summary: string; hidden?: boolean; load: () => Promise<{ command: Command }> }>
> = {
  init: {
    summary: "write a commented starter config with a reward and its test",
    load: () => import("./cli/init.ts"),
  },
  run: { summary: "start a run and follow it", load: () => import("./cli/run.ts") },
  validate: { summary: "check configs before anything runs", load: () => import("./cli/validate/index.ts") },
  resolve: {
    summary: "print the resolved config, each value with where it came from",
    load: () => import("./cli/resolve.ts"),
  },
  convert: {
    summary: "a verl, TRL or OpenRLHF configuration as a Gradus config",
    load: () => import("./cli/convert.ts"),
  },
  explain: {
    summary: "rewards → advantages → loss and gradients on recorded rollouts",
    load: () => import("./cli/explain.ts"),
  },
  reward: { summary: "re-score recorded rollouts", load: () => import("./cli/reward.ts") },
  runs: {
    summary: "list, show, follow, stop, pause, resume, export, delete runs",
    load: () => import("./cli/runs.ts"),
  },
  rollouts: { summary: "print a run's rollouts", load: () => import("./cli/rollouts.ts") },
  sample: { summary: "talk to a checkpoint", load: () => import("./cli/sample.ts") },
  evaluate: { summary: "measure a checkpoint", load: () => import("./cli/evaluate.ts") },
  methods: { summary: "every method of every slot", load: () => import("./cli/methods.ts") },
  presets: { summary: "published methods as choices of options", load: () => import("./cli/presets.ts") },
  rules: { summary: "every kind of finding; with an id, its page", load: () => import("./cli/rules.ts") },
  schema: { summary: "the JSON Schema of a config", load: () => import("./cli/schema.ts") },
  daemon: {
    summary: "status, stop or logs of the daemon of this store",
    load: () => import("./cli/daemon.ts"),
  },
  doctor: {
    summary: "what compute was found, what is missing and the command that mends it",
    load: () => import("./cli/doctor.ts"),
  },
  engine: {
    summary: "which library computes; install another one",
    load: () => import("./cli/engine.ts"),
  },
  curriculum: {
    summary: "what the curriculum draws: of recorded outcomes, or of simulated learners",
    load: () => import("./cli/curriculum.ts"),
  },
  lsp: { summary: "the language server on stdio, for any editor", load: () => import("./cli/lsp.ts") },
  serve: { summary: "the daemon's process", hidden: true, load: () => import("./cli/serve.ts") },
  worker: { summary: "a run's process", hidden: true, load: () => import("./cli/worker.ts") },
};

/** An option that may be given many times starts from an empty list: nothing to tell. */
const described = (option: Option): string =>
  Array.isArray(option.defaultValue) ? option.description : new Help().optionDescription(option);

/**
 * `gradus … | head`: whoever read has gone, and nobody is there to be told. The daemon and a run's worker, whose output
 * is a file, never end because of it.
 */
function leaveQuietly(wanted: string | undefined): void {
  const stays = wanted === "serve" || wanted === "worker";
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
  leaveQuietly(wanted);
  for (const [name, { summary, hidden, load }] of Object.entries(commands)) {
    const sub = program
      .command(name, { hidden: hidden ?? false })
      .description(summary)
      .exitOverride();
    if (name === wanted) (await load()).command.configure(sub);
  }
  await program.parseAsync(argv, { from: "user" });
}

main(process.argv.slice(2)).catch((error: unknown) => {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? exit.ok : exit.usage;
    return;
  }
  process.exitCode = error instanceof UserError && error.detail.code === "usage" ? exit.usage : exit.failed;
  if (error instanceof UserError) {
    const { file, line, character, code, action } = error.detail;
    const place =
      file === undefined
        ? ""
        : line === undefined
          ? `${file}: `
          : `${file}:${line + 1}:${(character ?? 0) + 1}: `;
    complain(`${place}error: ${visibleText(error.message)}${code === undefined ? "" : ` [${code}]`}`);
    if (action !== undefined) complain(`  ${action}`);
    return;
  }
  complain(
    `gradus: ${process.env["GRADUS_DEBUG"] === undefined ? messageOf(error) : error instanceof Error ? error.stack : String(error)}`,
  );
});
