import { basename } from "node:path";
import { isOwn, placeOf, type Rule } from "../rule.ts";
import type { PromptPairs, PromptPlace } from "../../core/config/modelFacts.ts";
import { formatCount } from "../../../shared/lib/format.ts";

/** Rows that a message names. */
const most = 3;

/** "rows 3 and 17, rows 4 and 90": with the file where it is another. */
export function pairsText({ count, first: pairs }: PromptPairs): string {
  const one = ([first, second]: readonly [PromptPlace, PromptPlace]): string =>
    first.file === second.file
      ? `rows ${first.row} and ${second.row}`
      : `row ${first.row} of \`${basename(first.file)}\` and row ${second.row} of \`${basename(second.file)}\``;
  return `${pairs.slice(0, most).map(one).join(", ")}${count > most ? ", …" : ""}`;
}

/** A prompt has one answer, and counts once. */
export const repeatedPrompt: Rule = {
  id: "repeated-prompt",
  title: "Repeated prompts",
  why: "Two rows with the same prompt are drawn twice as often as others. If their answers differ, no policy can be right on both, and their groups teach that the prompt is hard. Prompts are compared without case, white space and final punctuation.\n\nRemove the repeated rows, or merge their answers. Data of more than 64 MiB are not read while a config is checked.",
  check({ config, root, report, facts }) {
    const { tasks } = config.top;
    const look = facts?.prompts(tasks);
    if (look === undefined || look.repeated === 0) return;
    const { repeated, rows, contradictory } = look;
    const [pair] = contradictory.first;
    const index = pair?.[1].task ?? tasks.findIndex(({ source }) => source.declaration.name === "dataset");
    const at = placeOf(root, "tasks", String(index), "dataset") ?? placeOf(root, "tasks", String(index));
    if (!isOwn(at)) return;
    report({
      rule: repeatedPrompt.id,
      severity: pair === undefined ? "info" : "warning",
      message:
        pair === undefined
          ? `${formatCount(repeated)} of ${formatCount(rows)} prompts repeat an earlier one, so they are drawn more often than others: remove them from the data.`
          : `${formatCount(contradictory.count)} of ${formatCount(rows)} prompts repeat an earlier one with another answer (${pairsText(contradictory)}): no response is right for both, so remove one of each.`,
      key: `tasks.${index}.dataset`,
      at,
    });
  },
};
