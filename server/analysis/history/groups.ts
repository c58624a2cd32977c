/** Recorded groups of one step as the curriculum sees them, with the config's own advantages where none were recorded. */
import { StepExplainer } from "../explain/explain.ts";
import { RecordedStep } from "../explain/recordedStep.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import type { RecordedRow } from "../recorded.ts";
import type { Saved } from "../../core/basics.ts";
import type { Group } from "../../core/rollouts.ts";
import type { HistoryGroup } from "./read.ts";
import { groupsOf } from "../../algorithm/rewards/groups.ts";

/** Rewards alone are known: what reads tokens or log-probs has nothing to read. */
const bare = (stage: StageConfig): StageConfig => ({
  ...stage,
  body: { ...stage.body, kl: [], mask: [] },
});

/** One token a rollout represents its response. */
const rowsOf = (groups: readonly HistoryGroup[]): RecordedRow[] =>
  groups.flatMap(({ step, task, arm, rewards, place }, number) =>
    rewards.map((reward, index) => ({
      row: {
        step,
        group: String(number),
        index,
        task: { id: task, arm },
        reward,
        tokens: [0],
        logp_old: [0],
      },
      place,
    })),
  );

/** Makes groups step after step: a baseline that remembers knows the steps before. */
export class HistoryGroups {
  private readonly config: RunConfig;
  private remembered: Saved | undefined;

  constructor(config: RunConfig) {
    this.config = { ...config, stages: config.stages.map(bare) };
  }

  of(recorded: readonly HistoryGroup[]): Group[] {
    const rows = rowsOf(recorded);
    const computed = rows.length === 0 ? [] : this.computed(rows, recorded);
    const byNumber = new Map(computed.map((group) => [group.number, group.group]));
    return recorded.map((one, number): Group => {
      const group = byNumber.get(String(number)) ?? unscored(one);
      return {
        ...group,
        ...(one.data === undefined ? {} : { task: { ...group.task, data: one.data } }),
        ...(one.successes === undefined ? {} : { successes: one.successes }),
        arm: one.arm,
        ...(one.advantages === undefined ? {} : { advantages: Float64Array.from(one.advantages) }),
        ...(one.lengths === undefined ? {} : { lengths: Float64Array.from(one.lengths) }),
      };
    });
  }

  private computed(
    rows: readonly RecordedRow[],
    recorded: readonly HistoryGroup[],
  ): { readonly number: string; readonly group: Group }[] {
    const step = new RecordedStep(this.config, rows);
    const { algorithm, batch } = step;
    if (this.remembered !== undefined) algorithm.load(this.remembered);
    // Where all advantages were recorded nothing has to be computed of what the rewards alone may not tell.
    const known = recorded.every(({ advantages }) => advantages !== undefined);
    const scored = algorithm.rewards(step.terms(), batch, step.clock);
    const groups = known
      ? groupsOf(batch, scored)
      : groupsOf(batch, scored, new StepExplainer(step).solve(true, false).advantages);
    algorithm.observe(scored.combined, batch);
    this.remembered = algorithm.save();
    const numbers = [...new Set(batch.records.map(({ group }) => group))];
    return groups.map((group, i) => ({ number: numbers[i]!, group }));
  }
}

const unscored = ({ task, arm }: HistoryGroup): Group => ({
  task: { id: task, source: arm, env: "", prompt: "", data: {} },
  arm,
  rewards: new Float64Array(),
  advantages: new Float64Array(),
  successes: 0,
  lengths: new Float64Array(),
});
