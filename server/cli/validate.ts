import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Option } from "commander";
import { UserError, readFailure } from "../../shared/errors.ts";
import type { JsonObject } from "../../shared/json.ts";
import { foreignKind, type ConfigKind } from "../config/foreign.ts";
import { allFindings, type Diagnostic } from "../config/index.ts";
import { complain, exit, print, printJson, type Command } from "./command.ts";
import { collect, formatted } from "./findings.ts";

interface Checked {
  /** As the person wrote it. */
  readonly file: string;
  readonly kind: ConfigKind;
  readonly diagnostics: readonly Diagnostic[];
}

export const command: Command = {
  name: "validate",
  configure: (program) => {
    program
      .argument("<file...>", "configs to check")
      .addOption(
        new Option("--format <format>", "how findings are printed")
          .choices(["text", "json", "sarif"])
          .default("text"),
      )
      .option("--json", "the same as --format json")
      .option("--set <path=value>", "check with this value set", collect, [])
      .action((files: string[], options: { format: string; json?: boolean; set: string[] }) => {
        const checked = files.map((file) => check(file, options.set));
        const format = options.json === true ? "json" : options.format;
        if (format === "json") printJson({ files: checked.map(plainFile) });
        else if (format === "sarif") printJson(sarif(checked));
        else printText(checked);
        process.exitCode = checked.some(({ diagnostics }) => diagnostics.some(isError))
          ? exit.failed
          : exit.ok;
      });
  },
};

const isError = ({ severity }: Diagnostic): boolean => severity === "error";

function check(file: string, set: readonly string[]): Checked {
  const path = resolve(file);
  const broken = (message: string, rule: string, option?: string): Diagnostic => ({
    severity: "error",
    rule,
    message,
    key: "",
    file: path,
    fixes: [],
    range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
    ...(option === undefined ? {} : { option: { text: option, message } }),
  });
  try {
    const text = readFileSync(path, "utf8");
    const kind = foreignKind(text);
    if (kind !== "gradus") {
      const message = `This looks like a ${kind} config. This version of Gradus checks only its own; nothing in the file was checked. "gradus convert" makes a Gradus config of it.`;
      return { file, kind, diagnostics: [broken(message, "not-yet")] };
    }
    return { file, kind, diagnostics: allFindings(path, { text, set }) };
  } catch (error) {
    if (error instanceof UserError) {
      const { code = "failed", action } = error.detail;
      const message = `${error.message.replace(/([^.!?])$/, "$1.")}${action === undefined ? "" : ` ${action}`}`;
      const option = code === "set" ? "--set" : undefined;
      return { file, kind: "gradus", diagnostics: [broken(message, code, option)] };
    }
    return {
      file,
      kind: "gradus",
      diagnostics: [broken(`The file cannot be read: ${readFailure(error)}.`, "missing-file")],
    };
  }
}

const plainFile = ({ file, kind, diagnostics }: Checked): JsonObject => ({
  file,
  kind,
  diagnostics: diagnostics.map(({ severity, rule, message, key, range, fixes }) =>
    JSON.parse(JSON.stringify({ severity, rule, message, key, range, fixes })),
  ),
});

function printText(checked: readonly Checked[]): void {
  const all = checked.flatMap(({ file, diagnostics }) =>
    diagnostics.map((diagnostic) => ({ file, diagnostic })),
  );
  for (const { file, diagnostic } of all) complain(formatted(diagnostic, file));
  const count = (severity: string): number =>
    all.filter(({ diagnostic }) => diagnostic.severity === severity).length;
  const parts = ["error", "warning", "info"]
    .filter((severity) => count(severity) > 0)
    .map(
      (severity) => `${count(severity)} ${severity}${count(severity) > 1 && severity !== "info" ? "s" : ""}`,
    );
  const files = checked.length === 1 ? (checked[0]?.file ?? "") : `${checked.length} files`;
  print(`${files}: ${parts.length === 0 ? "nothing to complain about" : parts.join(", ")}`);
}

const sarifLevel = { error: "error", warning: "warning", info: "note" } as const;

function sarif(checked: readonly Checked[]): JsonObject {
  const all = checked.flatMap(({ diagnostics }) => diagnostics);
  const ids = [...new Set(all.map(({ rule }) => rule))].sort();
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "gradus", rules: ids.map((id) => ({ id })) } },
        results: all.map(({ rule, severity, message, file, range }) => ({
          ruleId: rule,
          level: sarifLevel[severity],
          message: { text: message },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: pathToFileURL(file).href },
                region: regionOf(range),
              },
            },
          ],
        })),
      },
    ],
  };
}

/** Counted from 1, as the format wants it. */
const regionOf = ({ start, end }: Diagnostic["range"]): JsonObject => ({
  startLine: start.line + 1,
  startColumn: start.character + 1,
  endLine: end.line + 1,
  endColumn: end.character + 1,
});
