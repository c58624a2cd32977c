/** What the checks of a reward found, each at a line of a file: of the data, of the function, else of the config. */
import { resolve } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import type { JsonObject } from "../../../shared/lib/json.ts";
import type { RewardFinding } from "../../../shared/protocol/rewards.ts";
import type { RewardTermConfig, StageBody } from "../../core/config/resolved.ts";
import type { LoadedConfig } from "../../rules/load.ts";
import { isObject } from "../evidence/json.ts";
import { causeMessage, causeSeverity, type FailureCause } from "./failures/causes.ts";
import type { FormatFinding } from "./format/checkFormat.ts";
import type { GoldReport } from "./gold.ts";
import { goldGroups, sharedMessage } from "./goldGroups.ts";
import { ownFile, placeOf } from "./ownFiles.ts";
import { severities, type ProbeFinding } from "./probe.ts";
import { capital, formatMessage, goldMessage, goldText, probeMessage, quoted } from "./sentences.ts";

/** Kinds of answer that a finding names besides its first. */
const mostProbes = 8;

type Place = Pick<RewardFinding, "file" | "cell" | "line">;

/** Where a config's own lines and its functions are. */
export class FindingPlaces {
  constructor(
    private readonly file: string,
    private readonly loaded: Pick<LoadedConfig, "origins" | "tree">,
    private readonly body: StageBody,
  ) {}

  /** A function's own line, else the term's in the config. */
  term(name: string): Place {
    const term = this.body.reward.terms.find((one) => one.name === name);
    return (term && placeOf(term)) ?? this.key(`reward.terms.${name}`, "reward.terms", "reward");
  }

  /** The term that decides. */
  get reward(): Place {
    const { success, terms } = this.body.reward;
    return this.term(success.terms?.[0] ?? terms[0]?.name ?? "");
  }

  /** The key that names a data file. @param data absolute */
  tasks(data: string | undefined): Place {
    const tasks = Array.isArray(this.loaded.tree["tasks"]) ? this.loaded.tree["tasks"] : [];
    const named = tasks.filter(isObject).find((task) => data !== undefined && reads(task, data));
    const path = `tasks.${String(named?.["name"] ?? "")}`;
    return this.key(`${path}.dataset`, path, "tasks");
  }

  /** The first of the keys that some file wrote. */
  private key(...paths: readonly string[]): Place {
    for (const path of paths) {
      const origin = this.loaded.origins[path];
      if (origin !== undefined && origin.line > 0) return { file: origin.file, line: origin.line - 1 };
    }
    return { file: this.file, line: 0 };
  }
}

const reads = ({ dataset }: JsonObject, data: string): boolean =>
  typeof dataset === "string" && resolve(dataset) === data;

/** One for each cause, at the reward; rows that fail each for itself at their lines. */
export function goldFindings(report: GoldReport, places: FindingPlaces): RewardFinding[] {
  const { shared, single } = goldGroups(report);
  const found = (place: Place, message: string): RewardFinding => ({
    ...place,
    severity: "warning",
    check: "gold",
    message: sentence(message),
  });
  const lined = single.flatMap((failure) => {
    const { file, line } = failure;
    return file === undefined || line === undefined ? [] : [found({ file, line }, goldMessage(failure))];
  });
  // Files without lines, such as Parquet, have one for all at the key that names them.
  const unlined = groupedBy(
    single.filter(({ line }) => line === undefined),
    ({ file }) => file ?? null,
  );
  return [
    ...formatFindings(report.format, places),
    ...shared.map((group) => found(places.reward, sharedMessage(group, report))),
    ...lined,
    ...unlined.map((own) => found(places.tasks(own[0].file), goldText({ ...report, failures: own }))),
  ];
}

/** At the pattern that does not match, else the function's line, else the term's. */
export const formatFindings = (found: readonly FormatFinding[], places: FindingPlaces): RewardFinding[] =>
  found.map((one) => ({
    ...(one.place ?? places.term(one.term)),
    severity: "warning",
    check: "gold",
    term: one.term,
    message: `\`${one.term}\`: ${formatMessage(one)}.${quoted(one.response)}`,
  }));

/** At the line that threw, else the function's, else the term's. */
export const causeFindings = (causes: readonly FailureCause[], places: FindingPlaces): RewardFinding[] =>
  causes.map((cause) => ({
    ...(cause.place ?? places.term(cause.term)),
    severity: causeSeverity(cause),
    check: "probe",
    term: cause.term,
    message: causeMessage(cause),
  }));

type Grouped<Item> = readonly [first: Item, ...others: readonly Item[]];

/** In the order of their first items. */
export function groupedBy<Item>(items: readonly Item[], keyOf: (item: Item) => unknown): Grouped<Item>[] {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) {
    const key = JSON.stringify(keyOf(item));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

/**
 * Of each term and line one for each severity: what a careless function lets pass is seldom one kind of answer alone. What
 * failed has its own findings, by cause.
 */
export const probeGroups = (findings: readonly ProbeFinding[]): Grouped<ProbeFinding>[] =>
  groupedBy(
    severities.flatMap((severity) =>
      findings.filter((one) => one.severity === severity && one.error === undefined),
    ),
    ({ term, severity, place }) => [term, severity, place],
  );

export function probeFindings(findings: readonly ProbeFinding[], places: FindingPlaces): RewardFinding[] {
  return probeGroups(findings).map(([first, ...others]): RewardFinding => {
    const { term, severity, place = places.term(term) } = first;
    const more = others.length - mostProbes;
    const lines = [
      sentence(probeMessage(first)) + quoted(first.response),
      ...others.slice(0, mostProbes).map(({ message }) => sentence(message)),
      ...(more <= 0 ? [] : [`${more} more kinds of answer: \`gradus reward FILE --probe\` lists them.`]),
    ];
    return { ...place, severity, check: "probe", term, message: lines.join("\n") };
  });
}

/** A function that cannot be called, at the line that its error names. @throws what is no such error */
export function loadFinding(
  error: unknown,
  terms: readonly RewardTermConfig[],
  places: FindingPlaces,
): RewardFinding {
  if (!(error instanceof UserError) || error.detail.file === undefined) throw error;
  const { file, line, action } = error.detail;
  const term = terms.find((one) => ownFile(one) === file);
  const place = line === undefined && term !== undefined ? places.term(term.name) : { file, line: line ?? 0 };
  return {
    ...place,
    severity: needsTraining(error.message) ? "info" : "error",
    check: "load",
    ...(term && { term: term.name }),
    message: sentence(error.message) + (action === undefined ? "" : ` ${action}`),
  };
}

/** Packages that stand where a model trains: that they are not on this machine says nothing of the reward. */
const needsTraining = (message: string): boolean =>
  /No module named '(torch|transformers|trl|unsloth\w*|vllm|verl|openrlhf|skyrl\w*|deepspeed|accelerate|peft|datasets|math_verify|latex2sympy2\w*|numpy)\b/.test(
    message,
  );

const sentence = (text: string): string => {
  const begun = capital(text);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
};
