/** Tests of curricula as a tree shows them. Pure. */
import { curriculumTestedName } from "../../../shared/run/curriculumTests.ts";

export interface ListedTest {
  /** From 0. */
  readonly line: number;
  readonly name: string;
}

export interface ListedTests {
  /** The config as the file has it, relative to it or absolute. */
  readonly config: string;
  readonly tests: readonly ListedTest[];
}

/** A value without quotes and comments, on a line or in a map in braces. */
const plain = (written: string): string => {
  const [, quoted] = /^\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')/.exec(written)?.filter(Boolean) ?? [];
  return quoted ?? written.replace(/\s#.*$/, "").trim();
};

/**
 * A test an item of `tests`, told by its lines: the editor shows them before anybody has read the file in earnest.
 * Whoever runs it knows better (`CurriculumTestOutcome`), and says what is wrong with it.
 */
export function testsIn(text: string, file: string): ListedTests {
  const lines = text.split(/\r?\n/);
  const written = lines.flatMap((line) => /^["']?config["']?\s*:(.*)$/.exec(line)?.[1] ?? [])[0];
  const config = written === undefined || plain(written) === "" ? curriculumTestedName(file) : plain(written);
  const begin = lines.findIndex((line) => /^["']?tests["']?\s*:/.test(line));
  const length = lines.slice(begin + 1).findIndex((line) => /^[^\s#-]/.test(line));
  const block = begin < 0 ? [] : lines.slice(begin + 1, length < 0 ? undefined : begin + 1 + length);
  return { config, tests: itemsOf(block, begin + 1) };
}

function itemsOf(block: readonly string[], offset: number): ListedTest[] {
  const indent = block.flatMap((line) => /^(\s*)-\s/.exec(line)?.[1] ?? [])[0];
  const starts = block.flatMap((line, at) => (/^(\s*)-\s/.exec(line)?.[1] === indent ? [at] : []));
  return starts.map((at, index) => ({
    line: offset + at,
    name: nameIn(block.slice(at, starts[index + 1])) ?? `test ${index + 1}`,
  }));
}

function nameIn(item: readonly string[]): string | undefined {
  for (const line of item) {
    const open = /^\s*(?:-\s+)?\{.*?\bname\s*:([^,}]*)/.exec(line)?.[1];
    const found = open ?? /^\s*(?:-\s+)?name\s*:(.*)$/.exec(line)?.[1];
    if (found !== undefined) return plain(found);
  }
  return undefined;
}
