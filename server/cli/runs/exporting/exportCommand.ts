/** `gradus runs export`: a run's records, its report, or a checkpoint as a model. */
import { Option, type Command as Program } from "commander";
import { archiveEnding } from "../../../store/archive/manifest.ts";
import { checkpointWords } from "../checkpointNames.ts";
import { common, type Options } from "../ofRun.ts";
import { findRun, withDaemon } from "../store.ts";
import { exportToFile } from "./archiveRun.ts";
import { exportModel, isModelFormat, modelFormats } from "./exportModel.ts";
import { exportRun, recordFormats, type ExportOptions } from "./exportRun.ts";
import { exportTracker, isTrackerFormat, trackerFormats } from "./exportTracker.ts";

export function exportCommand(program: Program): void {
  common(
    program
      .command("export")
      .description("export a run's records, its report, or a checkpoint as a model that other programs load")
      .argument(
        "<run>",
        `a run by its id, a prefix of the id, its name, or \`last\`; for a model ${checkpointWords}`,
      ),
  )
    .addOption(
      new Option(
        "--to <form>",
        "jsonl: its rollouts; history: its groups, for curriculum --history; curriculum: one line that `sampler: again` follows; csv: its metrics; json: everything but rollouts; report: one Markdown page; html: one page with charts and the verdict; tensorboard, trackio, wandb: as that tracker would have written it, into its folder of runs; hf, gguf, peft: a model",
      )
        .choices([...recordFormats, ...trackerFormats, ...modelFormats])
        .default("jsonl"),
    )
    .addOption(new Option("--format <form>", "as --to").choices(["rollouts", "csv", "json"]).hideHelp())
    .option(
      "--out <path>",
      "file or folder to write instead of stdout; required for a tracker and for a model. Rows (jsonl, history, csv) become Parquet in a file that ends in .parquet; one that ends in .gradusrun has the whole run",
    )
    .option("--html", "as --to html")
    .option("--checkpoints", "of a .gradusrun: with its checkpoints")
    .addOption(new Option("--output <file>", "as --out").hideHelp())
    .action((words: string, options: Options & ExportOptions) => exportAs(words, options));
}

function exportAs(words: string, options: Options & ExportOptions): Promise<void> | void {
  const { to, out, output, store, json } = options;
  if (to !== undefined && isModelFormat(to))
    return exportModel(words, { to, out: out ?? output, store, json });
  const file = out ?? output;
  return withDaemon(store, async (connection) => {
    const run = await findRun(connection, words);
    if (file?.endsWith(archiveEnding) === true) await exportToFile(run, file, options);
    else if (to !== undefined && isTrackerFormat(to))
      await exportTracker(connection, run, { to, out: file, json });
    else await exportRun(connection, run, options);
  });
}
