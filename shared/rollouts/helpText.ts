import { formatNumber, plural } from "../lib/format.ts";
import { trainingText } from "./responseParts.ts";
import type { RolloutRow } from "./rollouts.ts";

/**
 * How a rollout was helped, in one line: what was prefilled, how much of it trains, and conditioned on what.
 * @param marked the response itself is marked: what was prefilled is not repeated
 */
export function helpText(help: NonNullable<RolloutRow["help"]>, marked = false): string {
  const training = trainingText(help);
  const { use, by, share, round, given, text, prompt, stripped } = help;
  const what = [use, ...(by === undefined || by === use ? [] : [`(${by})`])].join(" ");
  const parts = [
    share === undefined
      ? what
      : `${what}, ${formatNumber(100 * share)} %${gaveNone(help) ? " of it: less than one unit, so nothing" : ""}`,
    ...(round > 0 ? [`round ${round + 1}`] : []),
    ...(given === undefined || marked
      ? []
      : [`${plural(given, "token")} prefilled: ${JSON.stringify(text ?? "")}`]),
    ...(prompt === undefined ? [] : [`prompted with ${JSON.stringify(prompt)}`]),
    ...(training === undefined || training === "" ? [] : [training]),
    ...(stripped === true ? ["trains conditioned on the task's own prompt"] : []),
  ];
  return `helped by ${parts.join(" · ")}`;
}

/** A share of one word is not a word. */
const gaveNone = ({ share, given, prompt }: NonNullable<RolloutRow["help"]>): boolean =>
  share !== undefined && share > 0 && given === undefined && prompt === undefined;
