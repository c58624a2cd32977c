/** `gradus test` of `*.curriculum.test.yaml`: what a config's curriculum does with simulated learners. */
import { resolve } from "node:path";
import { needs } from "../config/needs.ts";
import { UserError, readFailure } from "../../shared/lib/errors.ts";
import { visibleText } from "../../shared/lib/visibleText.ts";
import { readCurriculumTests, type CurriculumTests } from "../analysis/curriculumTests/read.ts";
import { runCurriculumTests, type CurriculumTestResult } from "../analysis/curriculumTests/run.ts";
import { limits, readText } from "../lib/inputFile.ts";
import { complain, printJson } from "./command.ts";
import { loadOrComplain } from "./loadOrComplain.ts";
import { complainAbout, pathText } from "./text/diagnostics.ts";

interface Counts {
  passed: number;
  failed: number;
  /** Files that cannot be run. */
  refused: number;
}

/** undefined: what is wrong with it has been said. */
function read(file: string): CurriculumTests | undefined {
  let text: string;
  try {
    text = readText(resolve(file), limits.config);
  } catch (error) {
    throw new UserError(`the tests cannot be read: ${readFailure(error)}`, { file, code: "curriculum-test" });
  }
  const { tests, diagnostics } = readCurriculumTests(resolve(file), text);
  complainAbout(diagnostics);
  return tests;
}

function show(
  file: string,
  { name, place, steps, seeds, failures }: CurriculumTestResult,
  json: boolean,
): void {
  if (json)
    return printJson({
      type: "curriculum",
      file,
      line: place.line,
      name,
      steps,
      seeds,
      passed: failures.length === 0,
      failures: failures.map(({ place: { line, character }, seed, step, found, message }) => ({
        line,
        character,
        seed,
        step,
        found,
        message,
      })),
    });
  for (const { place: at, message } of failures)
    complain(
      visibleText(
        `${pathText(file)}:${at.line + 1}:${at.character + 1}: error: ${name}: ${message} [curriculum-test]`,
      ),
    );
}

/** One file after the other. @param named the config to test in the place of each file's own */
export async function checkCurricula(
  files: readonly string[],
  named: string | undefined,
  json: boolean,
): Promise<Counts> {
  const counts = { passed: 0, failed: 0, refused: 0 };
  for (const file of files) {
    const tests = read(file);
    const config =
      tests && loadOrComplain(named ?? pathText(tests.config), { recorded: true }, { needs: needs.written });
    if (tests === undefined || config === undefined) {
      counts.refused += 1;
      continue;
    }
    for (const result of await runCurriculumTests(tests, config)) {
      show(file, result, json);
      counts[result.failures.length === 0 ? "passed" : "failed"] += 1;
    }
  }
  return counts;
}
