/** One model's part of the answer. */
import type { TextPattern } from "../../lib/texts/textPattern.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { Interval } from "../../analysis/evaluation/bootstrap.ts";
import { calibration, type Calibration } from "../../analysis/evaluation/calibration.ts";
import { intervals } from "../../analysis/evaluation/compare.ts";
import type { EvaluationProbe, ProbeReport } from "../../analysis/evaluation/probes.ts";
import { selectionOf, type Selection } from "../../analysis/evaluation/selectors/selection.ts";
import { randomStream } from "../../lib/random.ts";
import { confidenceIn } from "../../methods/reward/calibration/confidence.ts";
import type { Answered } from "../../run/evaluation/evaluate.ts";
import { examine, type Examined } from "../../run/evaluation/examine.ts";
import { SampledAnswers } from "../../run/evaluation/sampledAnswers.ts";
import { findCheckpoint } from "../runs/checkpointNames.ts";
import { rolloutsFile } from "./rolloutsFile.ts";

export interface Asked {
  readonly out?: string;
  readonly store?: string;
  readonly probe: readonly string[];
  readonly answer: TextPattern;
}

export interface Report {
  readonly checkpoint: string;
  readonly metrics: Readonly<Record<string, number>>;
  readonly intervals: Readonly<Record<string, Interval>>;
  readonly probes?: readonly ProbeReport[];
  /** One answer of several, chosen without its reward. */
  readonly selection?: Selection;
  /** Of the confidence that responses state, where the config has a term `brier`. */
  readonly stated_confidence?: Calibration;
}

export interface Measured extends Omit<Examined, "report"> {
  readonly report: Report;
  readonly answers: SampledAnswers;
}

/** What two models share. */
interface Between {
  /** Answers of another model, whose likelihood is to be told under this one. */
  readonly score?: readonly Batch[];
  /** Another model is to score these answers. */
  readonly keep?: boolean;
}

export async function measure(
  checkpoint: string,
  config: RunConfig,
  { out, store, probe, answer }: Asked,
  { score = [], keep: kept = false }: Between = {},
): Promise<Measured> {
  const file = out === undefined ? undefined : rolloutsFile(out, { task: config.name, model: checkpoint });
  const answers = new SampledAnswers(answer, kept);
  const keep = (answered: Answered): void => {
    answers.take(answered);
    file?.keep(answered);
  };
  try {
    const examined = await examine(findCheckpoint(checkpoint, store), config, {
      keep,
      probes: probe.map(probeOf),
      report: (message) => void process.stderr.write(`${message}\n`),
      score,
    });
    return { ...examined, answers, report: reportOf(checkpoint, examined, answers, config) };
  } finally {
    await file?.close();
  }
}

function reportOf(
  checkpoint: string,
  { tasks, report, probes }: Examined,
  answers: SampledAnswers,
  { seed, evaluation, top }: RunConfig,
): Report {
  const random = randomStream(seed, "bootstrap");
  const names = top.reward.terms.map(({ name }) => name);
  const deciding = top.reward.success.terms ?? names.slice(0, 1);
  const terms = names.filter((name) => !deciding.includes(name));
  const selection = selectionOf(answers.byTask, terms, random);
  const stated = statedConfidence(answers, top);
  return {
    checkpoint,
    metrics: report.metrics,
    intervals: intervals(tasks, evaluation.pass_at, random),
    ...(probes.length > 0 && { probes }),
    ...(selection === undefined ? {} : { selection }),
    ...(stated === undefined ? {} : { stated_confidence: stated }),
  };
}

function statedConfidence(answers: SampledAnswers, { reward }: RunConfig["top"]): Calibration | undefined {
  const brier = reward.terms.find(({ term }) => term.declaration.name === "brier");
  if (brier === undefined) return undefined;
  const tag = String(brier.term.params["tag"]);
  const claims = answers.byTask.flat().flatMap(({ response, right }) => {
    const confidence = confidenceIn(response, tag);
    return confidence === undefined ? [] : [{ confidence, right: Number(right) }];
  });
  return calibration(claims);
}

function probeOf(text: string): EvaluationProbe {
  const at = text.indexOf("=");
  return { name: text.slice(0, at), field: text.slice(at + 1) };
}
