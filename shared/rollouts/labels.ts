/**
 * What people say of recorded rollouts, for a judge to be compared with: lines of a `*.labels.jsonl` next to a config. A line is a rollout
 * and its label. The file only grows: a later line about the same rollout and term takes an earlier one's place.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import { UserError } from "../lib/errors.ts";
import { parseRollout, writeRollout, type RolloutRow } from "./rollouts.ts";

export const labelsEnding = ".labels.jsonl";

/** `skip`: seen, and not to be decided. */
export const labelValues = ["good", "bad", "skip"] as const;
export type LabelValue = (typeof labelValues)[number];

const label = z.object({
  /** The reward term whose scores the label is compared with. */
  term: z.string(),
  value: z.enum(labelValues),
  /** What the term gave when the rollout was recorded; null: nothing, or not known. */
  score: z.number().nullable().default(null),
  /** How many rollouts it represents, relative to the others; 1 on average. */
  weight: z.number().positive().default(1),
  /** When it was said. */
  time: z.string().optional(),
});
export type Label = z.output<typeof label>;

export interface LabelledRollout {
  readonly row: RolloutRow;
  readonly label: Label;
}

/** `sums.gradus.yaml` → `sums.labels.jsonl`, next to it. */
export const labelsFileOf = (config: string): string =>
  `${config.replace(/(\.gradus)?\.[^./\\]+$/, "")}${labelsEnding}`;

/** What a label is about, apart from its term. */
export const rolloutKey = ({
  run,
  step,
  group,
  index,
}: Pick<RolloutRow, "run" | "step" | "group" | "index">): string =>
  JSON.stringify([run ?? "", step, String(group), index]);

/**
 * The labels of a file that hold, in the order in which their rollouts were first labelled; none where there is no file.
 * @throws UserError naming the line that is none
 */
export function readLabels(file: string): readonly LabelledRollout[] {
  if (!existsSync(file)) return [];
  const held = new Map<string, LabelledRollout>();
  readFileSync(file, "utf8")
    .split("\n")
    .forEach((text, line) => {
      if (text.trim() === "") return;
      const labelled = parseLabelled(text, file, line);
      held.set(`${labelled.label.term} ${rolloutKey(labelled.row)}`, labelled);
    });
  return [...held.values()];
}

function parseLabelled(text: string, file: string, line: number): LabelledRollout {
  const { label: written, ...row } = parseRollout(text, { file, line }) as RolloutRow & {
    readonly label?: unknown;
  };
  const parsed = label.safeParse(written);
  if (parsed.success && row.response !== undefined) return { row, label: parsed.data };
  const [issue] = parsed.error?.issues ?? [];
  const key = ["label", ...(issue?.path ?? [])].join(".");
  throw new UserError(
    parsed.success
      ? 'the labelled rollout has no "response"'
      : `\`${key}\`: ${issue?.message ?? "is missing"}`,
    {
      file,
      line,
      character: 0,
      code: "labels-line",
      action:
        'A line is a rollout with "label": {"term": "correct", "value": "good"}; correct it or delete it.',
    },
  );
}

/** One line more. What stays of a row is what a judge is asked with, and where the rollout is recorded. */
export function appendLabel(file: string, { row, label: said }: LabelledRollout): void {
  const { run, step, group, index, attempt, task, prompt, response, finish, turns } = row;
  const kept: RolloutRow & { readonly label: Label } = {
    ...(run !== undefined && { run }),
    ...(attempt !== undefined && { attempt }),
    step,
    group,
    index,
    ...(task && { task }),
    ...(prompt !== undefined && { prompt }),
    response: response ?? "",
    ...(finish && finish !== "stop" && { finish }),
    ...(turns && { turns }),
    label: said,
  };
  appendFileSync(file, `${endsMidLine(file) ? "\n" : ""}${writeRollout(kept)}\n`);
}

/** Written by hand, or cut off. */
const endsMidLine = (file: string): boolean =>
  existsSync(file) && /[^\n]$/.test(readFileSync(file, "utf8").slice(-1));

/** What a reward term gave a rollout as one number; null: nothing, an error, or a value for each token. */
export function scoreOf({ rewards, errors }: RolloutRow, term: string): number | null {
  const value = rewards?.[term];
  return typeof value === "number" && errors?.[term] === undefined ? value : null;
}
