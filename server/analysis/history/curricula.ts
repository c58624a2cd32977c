/** The curricula of a config's stages, over the arms that a history speaks of. */
import { contextOf } from "../../algorithm/algorithm.ts";
import { Curriculum } from "../../algorithm/curriculum/curriculum.ts";
import { openSources } from "../../algorithm/curriculum/openSources.ts";
import { fingerprint } from "../../core/fingerprint.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import { randomStream } from "../../lib/random.ts";
import type { Division } from "../../core/slots/curriculum.ts";
import { checkArm, divisionOf, madeIn, nameIn } from "./arms.ts";
import type { HistoryGroup } from "./read.ts";

/** By what a curriculum is made of, the history's arms where they take the place of its own. */
export type Divisions = Map<string, Division>;

/** Of the run that recorded the history. */
const seedOf = (history: readonly HistoryGroup[]): number | undefined =>
  history.find(({ curriculum }) => curriculum !== undefined)?.curriculum?.seed;

/** Groups of a stage, where the history names it: those of others may be of other arms. */
function ofStage(history: readonly HistoryGroup[], name: string): readonly HistoryGroup[] {
  const stages = new Map(
    history.flatMap(({ step, curriculum }) => (curriculum === undefined ? [] : [[step, curriculum.stage]])),
  );
  return history.filter(({ step }) => (stages.get(step) ?? name) === name);
}

/** By what they are made of: stages that change nothing of theirs go on with what was learned. */
export class Curricula {
  private readonly made = new Map<string, Curriculum>();

  constructor(
    private readonly history: readonly HistoryGroup[],
    private readonly seed: number,
    /** Shared by replays of one history: to compare its tasks with an environment's, thousands of those are made. */
    private readonly divisions: Divisions = new Map(),
  ) {}

  of({ body, name }: StageConfig): Curriculum {
    const key = fingerprint([body.tasks, body.curriculum]);
    const known = this.made.get(key);
    if (known !== undefined) return known;
    // As the run made them: start points and pools of endless environments are the same by the same seed.
    const context = contextOf(body, { random: randomStream(seedOf(this.history) ?? this.seed, "methods") });
    const sources = openSources(body.tasks, context);
    const over = (division?: Division): Curriculum =>
      new Curriculum(body.curriculum, sources, context, division);
    let curriculum = over(this.divisions.get(key));
    const division = this.divisions.has(key)
      ? undefined
      : divisionOf(body, curriculum, ofStage(this.history, name), madeIn(this.history));
    if (division !== undefined) {
      this.divisions.set(key, division);
      curriculum = over(division);
    }
    this.made.set(key, curriculum);
    return curriculum;
  }

  /**
   * Of the arms of some stage: what was carried over or faded in from an earlier one keeps its own.
   * @param now the stage that the group's step is of
   * @throws UserError for a group of an arm that none of the stages has
   */
  check(group: HistoryGroup, now: StageConfig, stages: readonly StageConfig[]): void {
    const knows = (stage: StageConfig): boolean => {
      if (stage.kind !== "rl" && stage !== now) return false;
      const curriculum = this.of(stage);
      return curriculum.armNamed(nameIn(curriculum, group, this.history)) >= 0;
    };
    if (!stages.some(knows)) checkArm(group, this.of(now));
  }
}
