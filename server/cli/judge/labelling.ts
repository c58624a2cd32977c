/** One rollout at a time, one key each. What is shown goes to stderr; the judge's score is not shown. */
import { appendLabel, type LabelValue } from "../../../shared/rollouts/labels.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import type { DrawnRollout } from "../../../shared/protocol/protocol.ts";
import { complain } from "../command.ts";
import { colours } from "../text/colours.ts";

type Act = LabelValue | "back" | "stop";

const acts: Readonly<Record<string, Act>> = {
  g: "good",
  b: "bad",
  s: "skip",
  u: "back",
  "\u007f": "back",
  "\u001b[D": "back",
  q: "stop",
  "\u0003": "stop",
  "\u0004": "stop",
};
const keys = "g good · b bad · s skip · u back · q stop";

interface Labelling {
  readonly term: string;
  readonly file: string;
  /** Labels that there were. */
  readonly before: number;
}

/** Each key is a line of the file at once. @returns how many of the drawn have a label */
export async function labelInTerminal(
  drawn: readonly DrawnRollout[],
  { term, file, before }: Labelling,
): Promise<number> {
  const said = new Set<number>();
  let at = 0;
  const show = (): void => {
    const one = drawn[at];
    if (one !== undefined) complain(page(one, `${before + at + 1} of ${before + drawn.length} · ${term}`));
  };
  show();
  for await (const act of pressed()) {
    if (act === "stop") break;
    if (act === "back") at = Math.max(0, at - 1);
    else {
      const { row, score, weight } = drawn[at]!;
      appendLabel(file, { row, label: { term, value: act, score, weight, time: new Date().toISOString() } });
      complain(`${act}\n`);
      said.add(at++);
    }
    if (at >= drawn.length) break;
    show();
  }
  return said.size;
}

const page = ({ row: { prompt = "", response = "" } }: DrawnRollout, head: string): string =>
  [
    colours.bold(head),
    colours.dim("prompt"),
    visibleText(prompt),
    colours.dim("answer"),
    response === "" ? colours.dim("(empty)") : visibleText(response),
    "",
    colours.dim(keys),
  ].join("\n");

/** Of a terminal each key as it is pressed; of a pipe each character. */
async function* pressed(): AsyncGenerator<Act> {
  const { stdin } = process;
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.setEncoding("utf8");
  try {
    for await (const chunk of stdin as AsyncIterable<string>) {
      const found = chunk.startsWith("\u001b") ? [chunk] : [...chunk];
      for (const key of found) {
        const act = acts[key.toLowerCase()] ?? acts[key];
        if (act !== undefined) yield act;
      }
    }
  } finally {
    if (stdin.isTTY) stdin.setRawMode(false);
  }
}
