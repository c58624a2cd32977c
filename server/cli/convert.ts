import { limits, readText } from "../lib/inputFile.ts";
import { longestSource } from "../lib/notebook/notebook.ts";
import { resolve } from "node:path";
import { Option } from "commander";
import { UserError, readFailure } from "../../shared/lib/errors.ts";
import { trainersThat } from "../../shared/run/trainers.ts";
import { convert, type ConvertedFrom, type Unmapped } from "../frameworks/trainers/convert.ts";
import { complain, printJson, type Command } from "./command.ts";
import { pathText } from "./text/diagnostics.ts";

interface Options {
  readonly from?: ConvertedFrom;
  readonly json?: boolean;
}

function read(path: string): string {
  try {
    return readText(path, /\.(ya?ml|json)$/.test(path) ? limits.config : longestSource(path));
  } catch (error) {
    throw new UserError(`the configuration can't be read: ${readFailure(error)}`, {
      file: path,
      code: "missing-file",
      cause: error,
      action: "Check the path.",
    });
  }
}

const line = ({ key, value, reason }: Unmapped): string => {
  const valueText = value === null ? "" : ` = ${typeof value === "string" ? value : JSON.stringify(value)}`;
  return `  ${key}${valueText.length > 60 ? `${valueText.slice(0, 59)}…` : valueText}: ${reason}`;
};

function listed(title: string, entries: readonly Unmapped[]): void {
  if (entries.length === 0) return;
  complain(title);
  for (const entry of entries) complain(line(entry));
}

function run(file: string, { from, json }: Options): void {
  const path = resolve(file);
  const text = read(path);
  const { config, unmapped, defaulted } = convert(path, text, from);
  if (json === true) {
    printJson({ config, unmapped, defaulted });
    return;
  }
  process.stdout.write(config);
  listed(`${pathText(path)}: ${unmapped.length} without a counterpart:`, unmapped);
  listed(`${pathText(path)}: the file does not say, and the config has the framework's defaults:`, defaulted);
}

export const command: Command = {
  name: "convert",
  configure: (program) => {
    program
      .argument(
        "<file>",
        "a verl Hydra file or launch script, a TRL GRPOConfig in YAML, Python or a notebook, an OpenRLHF command line, settings of SkyRL in YAML or a launch script, or prime-rl's rl.toml",
      )
      .addOption(
        new Option(
          "--from <framework>",
          "the framework of the configuration; default: recognised by its keys",
        ).choices(trainersThat("converted")),
      )
      .option("--json", 'one JSON value: {"config", "unmapped", "defaulted"}')
      .action((file: string, options: Options) => run(file, options));
  },
};
