/** Tries answers on a reward that should earn nothing, before a policy finds them. */
import type { RewardTermConfig, StageBody } from "../../core/config/resolved.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { Task } from "../../core/task.ts";
import { decidingTerms, type Answer, type AnswerScorer, type ScoredAnswer } from "./answers.ts";
import { checkedTasks, spread, type CheckedTask } from "./checkedTasks.ts";
import type { GoldForm } from "./forms/goldForms.ts";
import { goldFormOf } from "./gold.ts";
import { hedges, useOf } from "./hedges.ts";
import { placeOf, type FilePlace } from "./ownFiles.ts";
import { probes, wrongAnswer, type Probe, type Probed } from "./probeAnswers.ts";
import { recordedProbes } from "./recordedProbes.ts";

/** `hint`: a hole that no recorded answer uses: it is told where the reward is asked about, and is no problem. */
export const severities = ["error", "warning", "info", "hint"] as const;

/** One thing that is wrong with a term: what it gives an answer, or that it fails on it. */
export interface ProbeFinding {
  readonly probe: string;
  readonly term: string;
  readonly severity: (typeof severities)[number];
  readonly message: string;
  /** The answer, to the first of the tasks where it happened. */
  readonly response: string;
  readonly task: string;
  /** Tasks where it happened, of those that were tried. */
  readonly tasks: number;
  readonly tried: number;
  /** The most that the term gave; null where it failed. */
  readonly value: number | null;
  /** The `return` that gave the value, else the function, if it is one's own. `line` counts from 0. */
  readonly place?: FilePlace;
  /** It failed on the answer: what it said. */
  readonly error?: string;
}

export interface ProbeReport {
  readonly tasks: number;
  readonly probes: number;
  readonly findings: readonly ProbeFinding[];
}

/** Tasks that each probe answers. */
const sampled = 16;

interface Tried {
  readonly probe: Probe;
  readonly scored: ScoredAnswer;
  /** What the reference answer of the same task earned. */
  readonly gold: ScoredAnswer | undefined;
}

interface ProbeOptions {
  /** The config's tasks, where they have been read already. */
  readonly all?: readonly CheckedTask[];
  /** Answers of a run, changed as well. */
  readonly recorded?: readonly Probed[];
  /** Answers of a run as they are, which say what a hole costs. Asked for where there is one. */
  readonly written?: () => readonly Answer[];
}

export async function probeReward(
  config: RunConfig,
  scorer: AnswerScorer,
  { all = checkedTasks(config, scorer.body), recorded = [], written = () => [] }: ProbeOptions = {},
): Promise<ProbeReport> {
  const form = await goldFormOf(scorer, all);
  const tasks = spread(all, sampled).map(({ task }) => task);
  const probed = tasks.map((task, i): Probed => {
    const others = [...tasks.slice(i + 1), ...tasks.slice(0, i)];
    return { task, form, gold: form?.of(task), wrong: wrongAnswer(task, others) };
  });
  scorer.causes.know(all);
  const reports = [
    await tryProbes(probes, probed, scorer),
    await tryProbes(recordedProbes, recorded, scorer),
  ];
  return {
    tasks: new Set([...tasks, ...recorded.map(({ task }) => task)].map(({ id }) => id)).size,
    probes: reports.reduce((sum, report) => sum + report.probes, 0),
    findings: weighedAll(
      reports.flatMap(({ findings }) => findings),
      form,
      written,
    ),
  };
}

/** Holes that only several answers in one response find, by how many recorded ones do; a term with other holes has them all. */
function weighedAll(
  findings: readonly ProbeFinding[],
  form: GoldForm | undefined,
  written: () => readonly Answer[],
): readonly ProbeFinding[] {
  const hedging = new Set(probes.flatMap(({ name, hedges: own }) => (own === true ? [name] : [])));
  const isHole = ({ probe, error }: ProbeFinding): boolean => error === undefined && hedging.has(probe);
  const isOpen = ({ severity, error }: ProbeFinding): boolean => severity !== "info" && error === undefined;
  const open = new Set(findings.filter((one) => isOpen(one) && !isHole(one)).map(({ term }) => term));
  const isAlone = (one: ProbeFinding): boolean => isHole(one) && !open.has(one.term);
  if (!findings.some(isAlone)) return findings;
  const answers = written();
  const count = answers.filter(({ task, response }) => hedges(form, task, response)).length;
  const { said, isRare } = useOf({ count, of: answers.length });
  const weighed = (one: ProbeFinding): ProbeFinding => ({
    ...one,
    message: one.message + said,
    severity: isRare ? "hint" : one.severity,
  });
  return findings.map((one) => (isAlone(one) ? weighed(one) : one));
}

async function tryProbes(
  all: readonly Probe[],
  probed: readonly Probed[],
  scorer: AnswerScorer,
): Promise<Omit<ProbeReport, "tasks">> {
  const golds = await goldScores(scorer, probed);
  const asked = all.flatMap((probe) =>
    probed.flatMap((one): { readonly probe: Probe; readonly answer: Answer }[] => {
      const response = probe.of(one);
      return response === undefined ? [] : [{ probe, answer: { task: one.task, response } }];
    }),
  );
  const scored = await scorer.score(asked.map(({ answer }) => answer));
  const tried = asked.map(({ probe }, i): Tried => ({
    probe,
    scored: scored[i]!,
    gold: golds.get(scored[i]!.task),
  }));
  const findings = all.flatMap((probe) =>
    findingsOf(
      probe,
      tried.filter((one) => one.probe === probe),
      scorer.body,
    ),
  );
  return { probes: new Set(tried.map(({ probe }) => probe)).size, findings };
}

async function goldScores(
  scorer: AnswerScorer,
  probed: readonly Probed[],
): Promise<ReadonlyMap<Task, ScoredAnswer>> {
  const answers = probed.flatMap(({ task, gold }) => (gold === undefined ? [] : [{ task, response: gold }]));
  return new Map((await scorer.score(answers)).map((one) => [one.task, one]));
}

function findingsOf(probe: Probe, tried: readonly Tried[], body: StageBody): ProbeFinding[] {
  if (probe.kind === "same") return missed(probe, tried, body);
  const holes = successes(probe, tried, body);
  return [...holes, ...earned(probe, tried, body, holes), ...failures(probe, tried, body)];
}

type Case = (one: Tried) => boolean;

/** A finding about a term, where a case holds for some of the tasks. */
function finding(
  {
    probe,
    tried,
    term,
  }: { readonly probe: Probe; readonly tried: readonly Tried[]; readonly term: RewardTermConfig },
  holds: Case,
  severity: ProbeFinding["severity"],
  says: (value: number | null, where: string) => string,
): ProbeFinding[] {
  const found = tried.filter(holds);
  const [first] = found;
  if (first === undefined) return [];
  const values = found.flatMap(({ scored }) => scored.terms[term.name] ?? []);
  const value = values.length === 0 ? null : Math.max(...values);
  const where = found.length === tried.length ? "" : ` in ${found.length} of ${tried.length} tasks`;
  const place = placeOf(term);
  return [
    {
      probe: probe.name,
      term: term.name,
      severity,
      message: says(value, where),
      response: first.scored.response,
      task: first.scored.task.id,
      tasks: found.length,
      tried: tried.length,
      value,
      ...(place && { place }),
    },
  ];
}

const referenceOf = ({ reference = "the reference answer alone" }: Probe): string => reference;

const shown = (value: number | null): string =>
  value === null ? "nothing" : String(Number(value.toPrecision(4)));

const isDeciding =
  (body: StageBody, term: RewardTermConfig): Case =>
  ({ scored }) =>
    decidingTerms(body, scored.task.source)[0]?.name === term.name;

/** A wrong answer that counts as a success, or that earns as much as the reference answer in all. */
function successes(probe: Probe, tried: readonly Tried[], body: StageBody): ProbeFinding[] {
  const severity = probe.mild === true ? "warning" : "error";
  return body.reward.terms.flatMap((term) => {
    const own = isDeciding(body, term);
    const counted = finding(
      { probe, tried, term },
      (one) => own(one) && one.scored.success === true,
      severity,
      (value, where) => `${probe.title} scores ${shown(value)} and counts as a success${where}`,
    );
    if (counted.length > 0) return counted;
    return finding(
      { probe, tried, term },
      (one) => own(one) && one.gold?.success === true && earnsAsMuch(one),
      severity,
      (_, where) => `${probe.title} earns as much in all as ${referenceOf(probe)}${where}`,
    );
  });
}

const earnsAsMuch = ({ scored, gold }: Tried): boolean =>
  scored.reward !== null &&
  (gold?.reward ?? null) !== null &&
  scored.reward > 0 &&
  scored.reward >= gold!.reward!;

/** What says nothing of the task, and yet gets something from a term that does not judge the form alone. */
function earned(
  probe: Probe,
  tried: readonly Tried[],
  body: StageBody,
  holes: readonly ProbeFinding[],
): ProbeFinding[] {
  if (probe.kind !== "effortless") return [];
  const open = body.reward.terms.filter(
    ({ name, term }) => term.declaration.judges !== "form" && !holes.some((hole) => hole.term === name),
  );
  return open.flatMap((term) =>
    finding(
      { probe, tried, term },
      ({ scored }) => (scored.terms[term.name] ?? 0) > 0,
      // A term next to the one that decides may well reward brevity.
      tried.some(isDeciding(body, term)) ? "warning" : "info",
      (value, where) => `${probe.title} scores ${shown(value)}${where}`,
    ),
  );
}

function failures(probe: Probe, tried: readonly Tried[], body: StageBody): ProbeFinding[] {
  return body.reward.terms.flatMap((term) => {
    const fails: Case = ({ scored }) => scored.errors[term.name] !== undefined;
    const error = tried.find(fails)?.scored.errors[term.name] ?? "";
    const found = finding(
      { probe, tried, term },
      fails,
      "warning",
      (_, where) => `${probe.title} makes it fail${where}: ${error}`,
    );
    return found.map((one) => ({ ...one, error }));
  });
}

/** The reference answer is recognised, but not when something is changed that does not matter. */
function missed(probe: Probe, tried: readonly Tried[], body: StageBody): ProbeFinding[] {
  return body.reward.terms.flatMap((term) => {
    const own = isDeciding(body, term);
    return finding(
      { probe, tried, term },
      (one) => own(one) && one.gold?.success === true && one.scored.success === false,
      "info",
      (value, where) =>
        `${probe.title} scores ${shown(value)}${where}, though ${referenceOf(probe)} is a success`,
    );
  });
}
