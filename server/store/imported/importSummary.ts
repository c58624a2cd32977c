/** What an import came to, in numbers and in words. */
import { plural } from "../../../shared/lib/format.ts";
import { trainerText, type RunOrigin } from "../../../shared/run/origin.ts";
import type { DataNotes } from "./dataNotes.ts";

export interface ImportSummary extends RunOrigin {
  readonly run: string;
  /** Rollouts that evaluate, of those that the run has copied. */
  readonly measured?: number;
  /** Steps with metrics. */
  readonly metrics: number;
  /** Of the files with rollouts. */
  readonly bytes: number;
  /** Files whose last line was being written: that line is left out. */
  readonly halfWritten: readonly string[];
  /** Rollouts without a score, since it is NaN: `3.jsonl:7`. */
  readonly unscored: readonly string[];
  /** Runs that were imported from the same folder before, the last first. */
  readonly earlier: readonly string[];
  /** Names of rewards in TRL's files and in its script, where they have none in common. */
  readonly others: { readonly dumped: readonly string[]; readonly configured: readonly string[] } | null;
  /** Why the config gives no advantages, where it does not. */
  readonly unestimated: string | null;
  /** Of how many steps TRL kept the rollouts; null: it is not known, or the trainer keeps all. */
  readonly share: { readonly kept: number; readonly of: number } | null;
  /** TRL: the last two files have the same rollouts, since a generation batch spans several logs. */
  readonly repeated: boolean;
  /** Steps whose file has rollouts of an evaluation; they count as such. All of them: it is a folder of validation. */
  readonly evaluated: readonly number[];
  readonly data: DataNotes["data"];
  readonly needs: DataNotes["needs"];
  readonly missing: readonly string[];
  /** What a person should know of how it was read, as sentences. */
  readonly notes?: readonly string[];
  readonly seconds: number;
}

const groupsText: Readonly<Record<Exclude<RunOrigin["groups"], "none">, string>> = {
  uid: "groups by the first part of uid",
  prompt:
    "groups by equal input within a step, since the lines have no uid and are reordered: a prompt drawn twice in a step is one group",
  neighbours: "groups by neighbours with equal prompts, since the rows have no group",
  recorded: "groups as they were recorded",
};

/** "verl 0.9.1 · 200 steps · 204,800 rollouts · groups by the first part of uid · …". */
export function summaryText(summary: ImportSummary): string {
  const { steps, rollouts, groups, missing, metrics, measured = 0 } = summary;
  const answers = measured === 0 ? [] : [`${plural(measured, "rollout")} of evaluations`];
  return [
    trainerText(summary),
    ...(groups !== "none" && rollouts === 0
      ? [...answers, groupsText[groups]]
      : groups === "none"
        ? [`${plural(metrics, "step")} with metrics`]
        : [
            plural(steps, "step"),
            plural(rollouts, "rollout"),
            ...answers,
            ...shareText(summary),
            groupsText[groups],
            advantagesText(summary),
          ]),
    ...(summary.repeated ? ["files repeat rollouts: a generation batch spans several logs"] : []),
    ...evaluatedText(summary),
    ...halfText(summary),
    ...unscoredText(summary),
    ...dataText(summary),
    ...(missing.length === 0 ? [] : [`missing: ${missing.join(", ")}`]),
  ].join(" · ");
}

function shareText({ share }: ImportSummary): string[] {
  if (share === null || share.kept >= share.of) return [];
  const percent = Math.round((1000 * share.kept) / share.of) / 10;
  return [
    `of ${share.kept} of ${plural(share.of, "step")} (${percent} %): TRL keeps the last generation batch at each log`,
  ];
}

function advantagesText({ trainer, advantages, unestimated, evaluated, steps }: ImportSummary): string {
  if (evaluated.length === steps) return "answers to held-out tasks, which have no advantages";
  if (trainer === "trl") return "advantages as TRL recorded them";
  if (advantages !== null) return `advantages computed here by ${advantages}`;
  return unestimated === null
    ? "no advantages: name the run's config with --config to compute them"
    : `no advantages: ${unestimated.replace(/\.$/, "")}`;
}

const evaluatedText = ({ evaluated, steps }: ImportSummary): string[] =>
  evaluated.length === 0 || evaluated.length === steps
    ? []
    : [
        `${plural(evaluated.length, "step")} with rollouts of an evaluation, which TRL writes in the place of those that trained`,
      ];

function halfText({ halfWritten }: ImportSummary): string[] {
  if (halfWritten.length === 0) return [];
  return [`${plural(halfWritten.length, "half-written line")} left out (${few(halfWritten)})`];
}

const few = (names: readonly string[]): string =>
  `${names.slice(0, 3).join(", ")}${names.length > 3 ? ", …" : ""}`;

const unscoredText = ({ unscored }: ImportSummary): string[] =>
  unscored.length === 0
    ? []
    : [
        `${plural(unscored.length, "rollout")} ${unscored.length === 1 ? "has" : "have"} no score (NaN): ${few(unscored)}`,
      ];

function dataText({ data, needs }: ImportSummary): string[] {
  const lacks = needs.map(
    ({ term, field }) =>
      `\`${term}\` needs \`${field}\`, which is not in the dump: log it with \`log_extra("${field}", ${field})\` in \`${term}\``,
  );
  if (data === null) return lacks;
  const { found, of, step, files } = data;
  return [`${found} of ${plural(of, "rollout")} of step ${step} found in ${files.join(", ")}`, ...lacks];
}

/** What may be wrong, or not meant. @param config the name of its file */
export function summaryNotes({ earlier, others, notes = [] }: ImportSummary, config: string): string[] {
  const [last] = earlier;
  return [
    ...notes,
    ...(last === undefined ? [] : [`imported before as ${last}`]),
    ...(others === null
      ? []
      : [
          `rollouts have ${others.dumped.join(", ")}; ${config} has ${others.configured.join(", ")}: are they of one run?`,
        ]),
  ];
}
