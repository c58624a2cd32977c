import { plural } from "../../../shared/lib/format.ts";
import { copiedWord } from "../../../shared/lib/copiedWord.ts";
import { repeated, whole } from "../options.ts";
import { complain, exit, print, printJson, type Command } from "../command.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import type { Finding, FolderSum } from "../../../shared/editor/folderSum.ts";
import { importCommand } from "../validate/dumps.ts";
import { sumOf } from "./sum.ts";

interface Options {
  readonly all?: boolean;
  readonly json?: boolean;
  readonly trustWorkspace?: boolean;
  readonly seconds: number;
  readonly ignore: readonly string[];
}

/** Lines that are read at a glance. */
const mostLines = 7;
/** Places up to this wide stand in a column. */
const widest = 28;

export const command: Command = {
  name: "check",
  configure: (program) => {
    program
      .argument("[path]", "a file or a folder: launch scripts, notebooks, configs, logs", ".")
      .option("--all", "every finding, also information, each with the id that `gradus rules ID` explains")
      .option("--run, --trust-workspace", "also run the folder's reward functions: only where you trust it")
      .option("--seconds <n>", "how long rewards may be tried, all together", whole(1), 60)
      .option(
        "--ignore <pattern>",
        "leave out files and folders, as a line of .gitignore would: old.log, runs/; may be repeated",
        repeated,
        [],
      )
      .option("--json", "one JSON value")
      .addHelpText(
        "after",
        "\nExit code: 1 where a finding is an error, 2 where there was nothing to check, else 0. A log of a training that went wrong is one: --ignore leaves an old one out.",
      )
      .action(async (path: string, options: Options) => {
        const runs = options.trustWorkspace === true;
        const sum = await sumOf(path, { runs, seconds: options.seconds, ignore: options.ignore });
        if (options.json === true) printJson(sum);
        else say(sum, options.all === true);
        process.exitCode = exitCode(sum);
      });
  },
};

function exitCode({ findings, projects, logs, checkouts }: FolderSum): number {
  if (findings.some(({ severity }) => severity === "error")) return exit.failed;
  return projects.length + logs.length + checkouts.length === 0 ? exit.usage : exit.ok;
}

function say(sum: FolderSum, all: boolean): void {
  const told = all ? sum.findings : sum.findings.filter(({ severity }) => severity !== "info");
  const shown = all ? told : told.slice(0, mostLines);
  const width = Math.min(widest, Math.max(0, ...shown.map((finding) => placeOf(finding).length)));
  for (const finding of shown) {
    const [first, ...others] = finding.message.split("\n");
    const id = all && finding.rule !== undefined ? ` [${finding.rule}]` : "";
    for (const line of [`${placeOf(finding).padEnd(width)}  ${first}${id}`, ...(all ? others : [])])
      print(visibleText(line));
  }
  for (const text of [...sum.outputs.map(opened), ...sum.checkouts.map(ofCheckout), ...sum.left])
    complain(visibleText(text));
  print(counts(sum, told.length, shown.length));
  const fixable = shown.filter((finding) => finding.fixable === true);
  if (fixable.length > 0) complain(visibleText(fixText(fixable)));
}

const fixText = (fixable: readonly Finding[]): string =>
  `${fixable.length} of them ${fixable.length === 1 ? "has" : "have"} a fix: gradus validate --fix ${[
    ...new Set(fixable.map(({ file }) => copiedWord(file))),
  ].join(" ")}`;

const opened = ({ folder, steps, config }: FolderSum["outputs"][number]): string =>
  `${folder}: ${plural(steps, "step")} you can open: ${importCommand(folder, config)}`;

/** Its own examples are many, and right for its authors. */
const ofCheckout = ({ folder, trainer, version, yours }: FolderSum["checkouts"][number]): string =>
  `${folder}: a checkout of ${trainer} ${version}: ${yours.length === 0 ? "no file" : plural(yours.length, "file")} of yours; its own are not checked unless you name one of its folders`;

const placeOf = ({ file, cell, line }: Finding): string =>
  line === undefined ? file : cell === undefined ? `${file}:${line}` : `${file} cell ${cell}:${line}`;

/** "3 findings in 2 projects and 1 log; 4 files of ms-swift were not checked", with what the seven lines leave out. */
function counts(
  { findings, projects, logs, checkouts, unchecked }: FolderSum,
  told: number,
  shown: number,
): string {
  const isNothing = told + projects.length + logs.length + checkouts.length === 0;
  const found = isNothing ? "nothing was checked" : told === 0 ? "no findings" : plural(told, "finding");
  const places = [
    ...(projects.length === 0 ? [] : [plural(projects.length, "project")]),
    ...(logs.length === 0 ? [] : [plural(logs.length, "log")]),
  ].join(" and ");
  const more = [
    ...(shown < told ? [`${told - shown} not shown`] : []),
    ...(told < findings.length ? [`${findings.length - told} only for information`] : []),
  ];
  const rest = more.length === 0 ? "" : `; ${more.join(", ")}: \`gradus check --all\` shows all`;
  return `${found}${places === "" ? "" : ` in ${places}`}${notChecked(unchecked)}${rest}`;
}

function notChecked(unchecked: FolderSum["unchecked"]): string {
  const all = unchecked.reduce((sum, { files }) => sum + files.length, 0);
  if (all === 0) return "";
  const named = unchecked.map(({ trainer, files }) => `${plural(files.length, "file")} of ${trainer}`);
  return `; ${named.join(", ")} ${all === 1 ? "was" : "were"} not checked`;
}
