import { externalEngines, type ExternalEngine } from "../../shared/run/trainers.ts";
import { needs } from "../config/needs.ts";
import { copiedWord } from "../../shared/lib/copiedWord.ts";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Option } from "commander";
import { plural } from "../../shared/lib/format.ts";
import { UserError } from "../../shared/lib/errors.ts";
import { exporters, writeProject, type Exported, type Missing } from "../frameworks/trainers/exporters.ts";
import { complain, exit, print, printJson, type Command } from "./command.ts";
import { loadOrComplain } from "./loadOrComplain.ts";
import { collect } from "./text/diagnostics.ts";
import { relativePath } from "../../shared/lib/slashes.ts";
import { fileName } from "../../shared/lib/fileName.ts";

declare const GRADUS_VERSION: string;

interface Options {
  readonly to?: ExternalEngine;
  readonly out?: string;
  readonly set: string[];
  readonly python: string;
  readonly launch?: string;
  readonly json?: boolean;
}

export const command: Command = {
  name: "export",
  configure: (program) => {
    program
      .argument("<file>", "the config, or a verl, TRL or OpenRLHF one")
      .addOption(
        new Option("--to <engine>", "the trainer; default: `engine.use` of the config").choices(
          externalEngines,
        ),
      )
      .option("--out <folder>", "the project's folder; default: .gradus/export/NAME")
      .option("--set <path=value>", "override a value of the config", collect, [])
      .option("--python <command>", "the Python that trains", "python3")
      .option("--launch <words>", "what is put before train.py, e.g. `accelerate launch --num_processes 8`")
      .option(
        "--trust-workspace",
        "let it start the Python that the config or its folder names, for tasks that Python makes",
      )
      .option("--json", 'one JSON value: {"folder", "engine", "files", "missing", "needs"}')
      .action((file: string, options: Options) => run(file, options));
  },
};

async function run(file: string, { to, out, set, python, launch, json }: Options): Promise<void> {
  const config = loadOrComplain(
    file,
    { set: [...set, ...(to === undefined ? [] : as(to))] },
    { needs: needs.drawn },
  );
  if (config === undefined) {
    process.exitCode = exit.failed;
    return;
  }
  const { use } = config.engine;
  if (use === "embedded")
    throw new UserError("the config does not say who trains", {
      file,
      code: "usage",
      action: `Name a trainer: --to ${externalEngines.join("|")}.`,
    });
  const exporter = exporters[use];
  const folder = resolve(out ?? join(".gradus", "export", fileName(config.name)));
  const text = readFileSync(resolve(file), "utf8");
  const request = { config, text, folder, python, launch, version: GRADUS_VERSION };
  const exported = await writeProject(exporter, request);
  if (json === true) printJson({ folder, engine: exporter.engine, ...exported });
  else say(exported, folder, exporter.release);
}

/** Settings of the engine of Gradus are not of the other. */
const as = (engine: ExternalEngine): readonly string[] => [
  `engine.use=${engine}`,
  ...["backend", "threads", "memory"].map((key) => `engine.${key}=null`),
];

function say({ files, missing }: Exported, folder: string, release: string): void {
  const place = relativePath(process.cwd(), folder) || ".";
  print(`${place}: ${plural(files.length, "file")} for ${release}: ${files.join(", ")}`);
  const changed = missing.filter(({ changes }) => changes === "algorithm");
  if (missing.length > 0) complain(heading(missing, changed));
  for (const { key, value, reason } of [...changed, ...missing.filter((one) => !changed.includes(one))])
    complain(`  ${key}${value === "" ? "" : ` = ${value}`}: ${reason}`);
  print(
    `\n  sh ${copiedWord(join(place, "launch.sh"))}\n  gradus runs import ${copiedWord(join(place, "out"))} --follow`,
  );
}

const heading = (missing: readonly Missing[], changed: readonly Missing[]): string =>
  changed.length === 0
    ? "What trains is the config's own algorithm. Of the config is missing:"
    : `${plural(changed.length, "choice")} of the config ${changed.length === 1 ? "has" : "have"} no counterpart, so another algorithm trains${missing.length > changed.length ? "; what follows those changes nothing of the algorithm" : ""}:`;
