/** The line of the `return` that gave an answer its score: the answer is scored once more, with marks in the function. */
import { UserError } from "../../../shared/lib/errors.ts";
import { stepsInAll } from "../../config/build/stagePlan.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { Clock } from "../../core/basics.ts";
import { stageAt } from "../explain/stageAt.ts";
import { noModels, noTokenizer } from "../rescore/noModels.ts";
import { batchOf, decidingTerms, type Answer, type AnswerScorer } from "./answers.ts";
import type { Hole } from "./attackTasks.ts";
import { checkedTasks, type CheckedTask } from "./checkedTasks.ts";
import { CoveredTerms } from "./covered/coveredTerms.ts";
import { placeIn, type FilePlace } from "./ownFiles.ts";
import type { ProbeFinding } from "./probe.ts";

class ReturnLines {
  private readonly terms: CoveredTerms;
  private readonly clock: Clock;

  constructor(
    config: RunConfig,
    private readonly scorer: AnswerScorer,
    unsaved: Readonly<Record<string, string>>,
  ) {
    this.terms = new CoveredTerms({ timeout: config.top.reward.timeout, unsaved });
    this.clock = stageAt(config, stepsInAll(config.stages) - 1).clock;
  }

  /** undefined: not known, as of a function that ends without a `return` or fails. */
  async of(name: string | undefined, answer: Answer): Promise<FilePlace | undefined> {
    const term = this.scorer.body.reward.terms.find((one) => one.name === name);
    const reward = term && this.terms.of(term);
    if (reward === undefined) return undefined;
    try {
      const [value] = await reward.score(batchOf([answer]), {
        models: noModels,
        tokenizer: noTokenizer,
        clock: this.clock,
      });
      const { returned } = await reward.reached();
      if (value?.kind === "error" || returned === undefined) return undefined;
      return placeIn(returned.file, returned.line);
    } catch (error) {
      // The function was loaded before; only the line is missing now.
      if (error instanceof UserError) return undefined;
      throw error;
    }
  }

  close(): Promise<void> {
    return this.terms.close();
  }
}

interface ReturnOptions {
  /** The config's tasks, where they have been read already. */
  readonly all?: readonly CheckedTask[];
  /** Whose answers were changed. */
  readonly recorded?: readonly Pick<Answer, "task">[];
  /** Texts of files that are open in an editor, by their paths. */
  readonly unsaved?: Readonly<Record<string, string>>;
}

/** Findings with the line of the `return` that scored the answer, where it is known; the rest keep the function's. */
export async function withReturnLines(
  config: RunConfig,
  scorer: AnswerScorer,
  findings: readonly ProbeFinding[],
  { all = checkedTasks(config, scorer.body), recorded = [], unsaved = {} }: ReturnOptions = {},
): Promise<ProbeFinding[]> {
  const scored = ({ place, value }: ProbeFinding): boolean => place !== undefined && value !== null;
  if (!findings.some(scored)) return [...findings];
  const byId = new Map([...all, ...recorded].map(({ task }) => [task.id, task]));
  const lines = new ReturnLines(config, scorer, unsaved);
  try {
    const placed: ProbeFinding[] = [];
    for (const finding of findings) {
      const task = byId.get(finding.task);
      const answer = task && { task, response: finding.response };
      const place = answer && scored(finding) ? await lines.of(finding.term, answer) : undefined;
      placed.push(place === undefined ? finding : { ...finding, place });
    }
    return placed;
  } finally {
    await lines.close();
  }
}

/** Holes with the line of the `return` that pleased the attack: of the term that decides a success. */
export async function placedHoles(
  config: RunConfig,
  scorer: AnswerScorer,
  holes: readonly Hole[],
): Promise<Hole[]> {
  const lines = new ReturnLines(config, scorer, {});
  try {
    const placed: Hole[] = [];
    for (const hole of holes) {
      const [example] = hole.examples;
      const [term] = example === undefined ? [] : decidingTerms(scorer.body, example.task.source);
      const place = example && (await lines.of(term?.name, example));
      placed.push(place === undefined ? hole : { ...hole, place });
    }
    return placed;
  } finally {
    await lines.close();
  }
}
