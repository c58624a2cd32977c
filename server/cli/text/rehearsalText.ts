/** What `gradus run FILE --dry-run --endpoint URL` says. */
import type { Rehearsal } from "../../analysis/rehearsal/rehearse.ts";
import { formatFraction } from "../../../shared/lib/format.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { colours } from "./colours.ts";
import { fixed, oneLine } from "./terminal.ts";

const time = (seconds: number): string =>
  seconds < 1 ? `${(seconds * 1000).toFixed(seconds < 0.01 ? 2 : 0)} ms` : `${seconds.toFixed(1)} s`;

const share = (count: number, of: number): string => formatFraction(of === 0 ? 0 : count / of);

function groupLines({ groups, prompts, admitted, truncated, length }: Rehearsal): string[] {
  const { all_right: right, mixed, all_wrong: wrong, unknown } = groups;
  const undecided = unknown === 0 ? "" : ` · undecided ${share(unknown, prompts)}`;
  return [
    `groups: all right ${share(right, prompts)} · mixed ${share(mixed, prompts)} · all wrong ${share(wrong, prompts)}${undecided}`,
    `admitted to training: ${admitted} of ${prompts} groups`,
    `truncated: ${formatFraction(truncated)} of responses${length === null ? "" : `, ${Math.round(length)} tokens on average`}`,
  ];
}

const termLines = ({ terms, skipped }: Rehearsal): string[] => [
  ...terms.flatMap(({ term, mean, errors, seconds_per_rollout: seconds }) => [
    `  ${term.padEnd(16)} mean ${fixed(mean ?? undefined)}, ${time(seconds)} per rollout`,
    ...errors.slice(0, 3).map((error) => colours.red(`    ${error}`)),
  ]),
  ...skipped.map(({ term, reason }) => `  ${term.padEnd(16)} left out: ${reason}`),
];

/** Arms that a text lists. */
const mostArms = 12;

const armLines = ({ arms }: Rehearsal): string[] => [
  ...arms
    .slice(0, mostArms)
    .map(
      ({ arm, share: drawn, success }) =>
        `  ${arm.padEnd(24)} ${formatFraction(drawn).padStart(7)} of draws, ${success === null ? "not decided" : `${formatFraction(success)} right`}`,
    ),
  ...(arms.length > mostArms ? [`  … and ${arms.length - mostArms} more`] : []),
];

export function rehearsalText(report: Rehearsal): string {
  const { url, model, prompts, group, reward, seconds, examples } = report;
  return visibleText(
    [
      `${model} at ${url}: ${prompts} prompts × ${group} in ${time(seconds.generation)}, scored in ${time(seconds.reward)}`,
      ...groupLines(report),
      `reward: mean ${fixed(reward ?? undefined)}`,
      ...termLines(report),
      "the curriculum's first mix:",
      ...armLines(report),
      "rollouts:",
      ...examples.map(
        ({ prompt, response, reward: earned }) =>
          `  ${fixed(earned ?? undefined).padStart(6)}  ${oneLine(`${prompt} ⏎ ${response}`, 90)}`,
      ),
    ].join("\n"),
  );
}
