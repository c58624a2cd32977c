/** A `*.curriculum.test.yaml`, with what is wrong in it, each at its place. */
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { curriculumTestEnding, curriculumTestedName } from "../../../shared/run/curriculumTests.ts";
import type { Diagnostic } from "../../config/check/diagnostic.ts";
import { Collector, unknownName, type Report } from "../../config/check/report.ts";
import { checkValue } from "../../config/check/values.ts";
import { isConfigName } from "../../config/configKind.ts";
import { child, startOfFile, textOf, toJson, type SourceNode } from "../../config/text/node.ts";
import { parseSource } from "../../config/text/source.ts";
import { isTooLong, tooLongWords } from "../../config/text/tooLong.ts";
import type { Position } from "../../lib/lines.ts";
import { complaintsAbout, fileSchema, type CurriculumExpectation, type WrittenTest } from "./format.ts";

export interface PlacedExpectation {
  readonly expect: CurriculumExpectation;
  readonly place: Position;
}

export interface CurriculumTest extends Omit<WrittenTest, "expect"> {
  readonly place: Position;
  readonly expect: readonly PlacedExpectation[];
}

export interface CurriculumTests {
  /** Absolute. */
  readonly file: string;
  /** Absolute. */
  readonly config: string;
  /** undefined: the config's. */
  readonly seeds: readonly number[] | undefined;
  readonly tests: readonly CurriculumTest[];
}

export interface ReadTests {
  /** undefined: there are errors. */
  readonly tests: CurriculumTests | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

export const isCurriculumTest = (file: string): boolean => file.endsWith(curriculumTestEnding);

/** @param file absolute */
export function readCurriculumTests(file: string, text: string): ReadTests {
  const whole = (message: string, rule: string): ReadTests => ({
    tests: undefined,
    diagnostics: [{ severity: "error", rule, message, key: "", file, range: startOfFile, fixes: [] }],
  });
  if (isTooLong(text)) return whole(tooLongWords, "syntax");
  const origin = { file, folder: dirname(file), via: [], layer: "file" } as const;
  const { root, diagnostics } = parseSource(file, text, origin);
  if (diagnostics.length > 0) return { tests: undefined, diagnostics };
  if (root?.kind !== "map")
    return whole(
      "The file needs `tests`: a list, each with a `name` and what it must `expect`.",
      "missing-key",
    );
  const found = new Collector(file, () => startOfFile);
  if (checkValue(fileSchema, root, "", found.report)) reportComplaints(root, found.report);
  const config = configOf(file, root, found.report);
  if (found.failed) return { tests: undefined, diagnostics: found.diagnostics };
  const { seeds, tests } = fileSchema.parse(toJson(root));
  return {
    tests: {
      file,
      config,
      seeds,
      tests: tests.map((test, at) => placed(test, nodeAt(root, ["tests", String(at)]))),
    },
    diagnostics: found.diagnostics,
  };
}

function reportComplaints(root: SourceNode, report: Report): void {
  fileSchema.parse(toJson(root)).tests.forEach(({ steps, expect }, test) =>
    expect.forEach((one, at) => {
      const place = ["tests", String(test), "expect", String(at)];
      for (const { path, message } of complaintsAbout(one, steps)) {
        const node = nodeAt(root, [...place, ...path]) ?? root;
        const key = [...place, ...path].join(".");
        report({ rule: "value", message: `\`${key}\`: ${message}.`, key, at: node.origin });
      }
    }),
  );
}

function nodeAt(root: SourceNode, path: readonly string[]): SourceNode | undefined {
  let node: SourceNode | undefined = root;
  for (const key of path) node = node?.kind === "list" ? node.items[Number(key)] : child(node, key);
  return node;
}

/** The config that is tested, reported where it is not there. */
function configOf(file: string, root: SourceNode, report: Report): string {
  const node = child(root, "config");
  const named = textOf(node);
  const folder = dirname(file);
  const config = named === undefined ? curriculumTestedName(file) : resolve(folder, named);
  if (existsSync(config)) return config;
  const at = node?.origin ?? root.origin;
  const others = existsSync(dirname(config)) ? readdirSync(dirname(config)).filter(isConfigName) : [];
  const name = basename(config);
  if (named === undefined)
    report({
      rule: "missing-file",
      message: `There is no \`${name}\` next to the tests. Name the config that they are about: \`config: ${others[0] ?? "FILE"}\`.`,
      key: "config",
      at,
    });
  else {
    const { hint, fixes } = unknownName(
      named,
      others.map((one) => join(dirname(named), one)),
      at,
    );
    report({
      rule: "missing-file",
      message: `There is no file \`${named}\`.${others.length === 0 ? "" : ` ${hint}`}`,
      key: "config",
      at,
      fixes,
    });
  }
  return config;
}

const placeOf = (node: SourceNode | undefined): Position => (node?.origin.range ?? startOfFile).start;

const placed = (test: WrittenTest, node: SourceNode | undefined): CurriculumTest => ({
  ...test,
  place: placeOf(node),
  expect: test.expect.map((expect, at) => ({
    expect,
    place: placeOf(node && nodeAt(node, ["expect", String(at)])),
  })),
});
