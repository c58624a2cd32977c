/** A verdict in the terminal: its mark, one sentence, what explains it, and what to change. */
import { isAlarm, type Verdict, type VerdictState } from "../../../shared/run/verdict.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { colours } from "./colours.ts";

/** A mark before every state, so that colour is not all that tells them apart. */
const marks: Readonly<Record<VerdictState, string>> = {
  "too early": "…",
  "cannot tell": "?",
  learning: "✔",
  flat: "–",
  starved: "▲",
  hacking: "✖",
  collapsed: "✖",
  unstable: "✖",
  stalled: "▲",
  failing: "✖",
};

const coloured = (state: VerdictState, text: string): string =>
  isAlarm(state) ? colours.red(text) : state === "learning" ? colours.green(text) : colours.yellow(text);

/** "✖ collapsed at 318", for a row. */
export const verdictLabel = ({ state, label }: Pick<Verdict, "state" | "label">): string =>
  coloured(state, `${marks[state]} ${label}`);

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
    coloured(state, `${marks[state]} ${visibleText(headline)}`),
    ...rest.map((line) => `  ${visibleText(line)}`),
  ];
}
