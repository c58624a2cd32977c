/** Tests of rewards as a tree shows them. Pure. */
import { expectation, expectationText } from "../../../shared/rollouts/expectation.ts";
import type { RewardTestOutcome } from "../../../shared/protocol/protocol.ts";

export interface ListedTest {
  /** From 0. */
  readonly line: number;
  readonly label: string;
  /** Where it was pinned: "step 12 of countdown-…"; empty: it was written by hand. */
  readonly from: string;
}

/** A test a line; a line that is none is left out: running the file says what is wrong with it. */
export function testsIn(text: string): ListedTest[] {
  return text.split(/\r?\n/).flatMap((line, at): ListedTest[] => {
    if (line.trim() === "") return [];
    const found = parse(line);
    return found === undefined ? [] : [{ line: at, ...found }];
  });
}

function parse(line: string): Omit<ListedTest, "line"> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { expect, response, run, step } = value as Readonly<Record<string, unknown>>;
  const wanted = expectation.safeParse(expect);
  if (!wanted.success || typeof response !== "string") return undefined;
  return {
    label: expectationText(wanted.data, response),
    from: typeof run === "string" && typeof step === "number" ? `step ${step} of ${run}` : "",
  };
}

const longest = 60;
function oneLine(response: string): string {
  const text = JSON.stringify(response.replace(/\s+/g, " "));
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

/** "2 of 5 reward tests fail: …" with the first of them; undefined: all pass. */
export function failingText(
  outcomes: readonly RewardTestOutcome[],
  broken: readonly { readonly message: string }[],
): { readonly title: string; readonly detail: string } | undefined {
  const failed = outcomes.filter(({ failure }) => failure !== null);
  const problems = [
    ...failed.map(({ failure, response }) => `${failure} (${oneLine(response)})`),
    ...broken.map(({ message }) => message),
  ];
  const [first, ...more] = problems;
  if (first === undefined) return undefined;
  const title =
    failed.length === 0
      ? "Tests of the reward cannot be run."
      : outcomes.length === 1
        ? "The test of the reward fails."
        : `${failed.length} of ${outcomes.length} reward tests ${failed.length === 1 ? "fails" : "fail"}.`;
  return { title, detail: [first, ...more.slice(0, 2)].join("\n") };
}
