/** A verdict in the terminal: its mark, one sentence, what explains it, and what to change. */
import { isAlarm, verdictMarks, type Verdict, type VerdictState } from "../../../shared/run/verdict.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { colours } from "./colours.ts";

const coloured = (state: VerdictState, text: string): string =>
  isAlarm(state) ? colours.red(text) : state === "learning" ? colours.green(text) : colours.yellow(text);

/** "✖ collapsed at 318", for a row. */
export const verdictLabel = ({ state, label }: Pick<Verdict, "state" | "label">): string =>
  coloured(state, `${verdictMarks[state]} ${label}`);

export function verdictLines({
  state,
  headline,
  details,
  against,
  fixes,
  rollouts,
  reliability,
}: Verdict): string[] {
  const rest = [
    ...details,
    ...(against === null ? [] : [`Against it: ${against}`]),
    ...fixes.map(
      ({ title, set, effect, leaves }) =>
        `Try: ${title}  (${set.map(({ path, value }) => `--set ${path}=${JSON.stringify(value)}`).join(" ")}): ${effect ?? "its effect is unknown until tried"}.${leaves === null ? "" : ` ${leaves}`}`,
    ),
    ...(rollouts.length === 0
      ? []
      : [
          `Look at: ${rollouts.map(({ step, group, index, why }) => `step ${step}, group ${group}, rollout ${index} (${why})`).join("; ")}.`,
        ]),
    ...(reliability === null ? [] : [reliability]),
  ];
  return [
    coloured(state, `${verdictMarks[state]} ${visibleText(headline)}`),
    ...rest.map((line) => `  ${visibleText(line)}`),
  ];
}

/** What became of a run, where its verdict does not say that already. */
export const messageBeside = (message: string | null, verdict: Pick<Verdict, "headline"> | null): string[] =>
  message === null || message === "" || verdict?.headline.includes(message) === true ? [] : [message];
