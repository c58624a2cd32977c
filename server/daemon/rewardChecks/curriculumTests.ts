/** Files of tests of curricula, for the thread that has the time. */
import { messageOf, readFailure } from "../../../shared/lib/errors.ts";
import type { ResultOf, curriculumTest } from "../../../shared/protocol/protocol.ts";
import { needs } from "../../config/needs.ts";
import { readCurriculumTests } from "../../analysis/curriculumTests/read.ts";
import { runCurriculumTests } from "../../analysis/curriculumTests/run.ts";
import type { Diagnostic } from "../../config/check/diagnostic.ts";
import { loadFile } from "../../frameworks/use/asConfig/load.ts";
import { limits, readText } from "../../lib/inputFile.ts";
import type { Position } from "../../lib/lines.ts";

type Tested = ResultOf<typeof curriculumTest>;
type Broken = Tested["broken"][number];

const start: Position = { line: 0, character: 0 };

export async function testCurricula(files: readonly string[], signal: AbortSignal): Promise<Tested> {
  const [outcomes, broken]: [Tested["outcomes"][number][], Broken[]] = [[], []];
  for (const file of files) {
    const tested = await testFile(file, signal).catch((error: unknown) =>
      brokenAt(file, start, messageOf(error)),
    );
    if ("message" in tested) broken.push(tested);
    else outcomes.push(...tested.outcomes);
  }
  return { outcomes, broken };
}

const brokenAt = (file: string, { line, character }: Position, message: string): Broken => ({
  file,
  line,
  character,
  message,
});

const isError = ({ severity }: Diagnostic): boolean => severity === "error";

async function testFile(file: string, signal: AbortSignal): Promise<Broken | Pick<Tested, "outcomes">> {
  let text: string;
  try {
    text = readText(file, limits.config);
  } catch (error) {
    return brokenAt(file, start, `The tests cannot be read: ${readFailure(error)}.`);
  }
  const { tests, diagnostics } = readCurriculumTests(file, text);
  if (tests === undefined) {
    const wrong = diagnostics.find(isError);
    return brokenAt(file, wrong?.range.start ?? start, wrong?.message ?? "The tests cannot be read.");
  }
  const loaded = loadFile(tests.config, { recorded: true }, { needs: needs.written });
  if (loaded.config === undefined) {
    const wrong = loaded.diagnostics.find(isError);
    return brokenAt(file, start, `The config has errors: ${wrong?.message ?? "it cannot be read"}`);
  }
  const results = await runCurriculumTests(tests, loaded.config, signal);
  return {
    outcomes: results.map(({ name, place, failures }) => ({
      file,
      line: place.line,
      name,
      failures: failures.map(({ place: { line, character }, message }) => ({ line, character, message })),
    })),
  };
}
