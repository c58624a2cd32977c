/** What a test of a reward expects: the key `expect` of a line of a `*.reward.test.jsonl`. */
import { z } from "zod";
import { formatNumber } from "../lib/format.ts";

export const testEnding = ".reward.test.jsonl";

export const expectation = z
  .strictObject({
    /** Of the config; without one, the combined reward is meant. */
    term: z.string().optional(),
    at_least: z.number().optional(),
    at_most: z.number().optional(),
    /** Another response to the same task, which must earn less. */
    beats: z.string().optional(),
  })
  .refine(({ at_least, at_most, beats }) => (at_least ?? at_most ?? beats) !== undefined, {
    message: "needs `at_least`, `at_most` or `beats`",
  });
export type Expectation = z.output<typeof expectation>;

const longest = 40;
const short = (text: string): string => {
  const line = JSON.stringify(text.replace(/\s+/g, " "));
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
};

/** `correct of "7*5-2-1" is at most 0`. */
export function expectationText({ term, at_least, at_most, beats }: Expectation, response: string): string {
  const what = `${term ?? "reward"} of ${short(response)}`;
  return [
    ...(at_least === undefined ? [] : [`is at least ${formatNumber(at_least)}`]),
    ...(at_most === undefined ? [] : [`is at most ${formatNumber(at_most)}`]),
    ...(beats === undefined ? [] : [`is above that of ${short(beats)}`]),
  ]
    .map((part, i) => (i === 0 ? `${what} ${part}` : part))
    .join(" and ");
}
