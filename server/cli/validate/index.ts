import { Option } from "commander";
import { plural } from "../../../shared/lib/format.ts";
import type { Severity } from "../../config/check/diagnostic.ts";
import { releaseText } from "../../frameworks/check/index.ts";
import { complain, exit, print, printJson, type Command } from "../command.ts";
import { collect, formatted } from "../text/diagnostics.ts";
import { whole } from "../options.ts";
import { checkAll, isUnchecked, type Checked } from "./check.ts";
import { dumpedRollouts, type DumpedRollouts } from "./dumps.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { checkedJson, uncheckedTexts } from "./json.ts";
import { sarif } from "./sarif.ts";

interface Options {
  readonly format: "text" | "json" | "sarif";
  readonly json?: boolean;
  readonly set: readonly string[];
  readonly maxWarnings?: number;
  readonly fix?: boolean;
  readonly skipOthers?: boolean;
}

export const command: Command = {
  name: "validate",
  configure: (program) => {
    program
      .argument("<file...>", "configs, folders of them or patterns: runs/**/*.gradus.yaml")
      .addOption(
        new Option("--format <format>", "how diagnostics are printed")
          .choices(["text", "json", "sarif"])
          .default("text"),
      )
      .option("--json", "the same as --format json")
      .option("--max-warnings <n>", "fail when there are more warnings than this", whole(0))
      .option("--fix", "apply the fixes that leave no choice to the files, then check")
      .option("--skip-others", "skip files that are not a configuration, even if they are named")
      .option("--set <path=value>", "override a value of the config", collect, [])
      .action((words: string[], options: Options) => {
        process.exitCode = validate(words, options);
      });
  },
};

function validate(words: readonly string[], options: Options): number {
  const how = { set: options.set, fix: options.fix === true, skipOthers: options.skipOthers === true };
  const checked = checkAll(words, how);
  const format = options.json === true ? "json" : options.format;
  const dumps = format === "sarif" ? [] : dumpedRollouts(words, checked);
  if (format === "json") printJson(checkedJson(checked, dumps, how.fix));
  else if (format === "sarif") printJson(sarif(checked));
  else printText(checked, dumps);
  for (const text of uncheckedTexts(checked)) complain(text);
  const warnings = count(checked, "warning");
  const { maxWarnings = Infinity } = options;
  if (warnings > maxWarnings)
    complain(
      `${countText(warnings, "warning")}: more than the ${maxWarnings} that \`--max-warnings\` allows. Fix some, or raise it.`,
    );
  if (count(checked, "error") > 0 || warnings > maxWarnings) return exit.failed;
  return checked.length > 0 && checked.every(isUnchecked) ? exit.usage : exit.ok;
}

const count = (checked: readonly Checked[], severity: Severity): number =>
  checked.flatMap(({ diagnostics }) => diagnostics).filter((found) => found.severity === severity).length;

const countText = (n: number, severity: Severity): string =>
  `${n} ${severity}${n > 1 && severity !== "info" ? "s" : ""}`;

function printText(all: readonly Checked[], dumps: readonly DumpedRollouts[]): void {
  const checked = all.filter((one) => !isUnchecked(one));
  const left = all.length - checked.length;
  if (checked.length === 0 && all.length > 0) return;
  for (const { file, diagnostics, fixed } of checked) {
    if (fixed) complain(`${file}: fixed`);
    for (const diagnostic of diagnostics) complain(formatted(diagnostic, file));
  }
  for (const { folder, steps, command } of dumps)
    complain(visibleText(`${folder}: info: ${plural(steps, "step")} you can open: ${command}`));
  const severities: readonly Severity[] = ["error", "warning", "info"];
  const parts = severities.flatMap((severity) => {
    const n = count(checked, severity);
    return n === 0 ? [] : [countText(n, severity)];
  });
  const files = checked.length === 1 ? (checked[0]?.file ?? "") : `${checked.length} files`;
  print(
    `${files}: ${parts.length === 0 ? "no problems" : parts.join(", ")}${commanded(checked)}${judges(checked)}${left === 0 ? "" : `; ${left} not checked`}`,
  );
}

/** What was not seen of scripts that a launch gives their settings. */
function commanded(checked: readonly Checked[]): string {
  const count = checked.filter((one) => one.commanded === true).length;
  if (count === 0) return "";
  const whose = checked.length === 1 ? "its settings" : `the settings of ${plural(count, "script")}`;
  return `; ${whose} come from a command line`;
}

/** ` (checked against verl 0.9.1)`: keys and rules differ from release to release. */
function judges(checked: readonly Checked[]): string {
  const named = checked.flatMap(({ release }) => (release === undefined ? [] : [releaseText(release)]));
  const all = [...new Set(named)];
  if (all.length === 0) return "";
  const releases = all.length > 4 ? [...all.slice(0, 4), `${all.length - 4} more releases`] : all;
  return ` (checked against ${releases.join(", ")})`;
}
