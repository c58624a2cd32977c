/** What became of every stage's tasks: held-out ones of each, measured as each stage ends. */
import { Algorithm } from "../../algorithm/algorithm.ts";
import type { DrawnTask } from "../../algorithm/curriculum/draws.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import type { Clock } from "../../core/basics.ts";
import { evaluate } from "../evaluation/evaluate.ts";
import type { Session } from "../loop/session.ts";
import type { StageComponents } from "../loop/stageComponents.ts";
import { examContext } from "../../algorithm/curriculum/evaluationTasks.ts";
import { heldOut } from "../../algorithm/curriculum/heldOut.ts";

interface StageMatrixRow {
  readonly stage: StageConfig;
  readonly tasks: readonly DrawnTask[];
}

/** Whether the stage has tasks that a reward tells right from wrong. */
const measurable = ({ kind, body }: StageConfig): boolean =>
  (kind === "rl" || kind === "sft") && body.tasks.length > 0 && body.reward.terms.length > 0;

export class RegressionMatrix {
  private rows: readonly StageMatrixRow[] | undefined;

  constructor(
    private readonly session: Session,
    private readonly components: StageComponents,
  ) {}

  /** Records `eval/<stage>/pass@k` and `eval/<stage>/greedy` of every stage, as they are once `after` has ended. */
  async measure(after: StageConfig, clock: Clock): Promise<void> {
    const { evaluation } = this.session.config;
    const { matrix } = evaluation;
    if (matrix === undefined) return;
    const rows = (this.rows ??= this.session.config.stages.filter(measurable).map((stage) => ({
      stage,
      tasks: heldOut(stage.body, examContext(evaluation, this.components.context(stage.body)), matrix),
    })));
    const metrics: Record<string, number> = {};
    for (const row of rows) Object.assign(metrics, await this.measureRow(row, clock));
    const { recorder } = this.session;
    const record = { kind: "evaluation", step: recorder.step, time: Date.now(), role: "matrix" } as const;
    recorder.append({ ...record, stage: after.name, metrics });
  }

  /** By the stage's own tasks, prompts and rewards. */
  private async measureRow({ stage, tasks }: StageMatrixRow, clock: Clock): Promise<Record<string, number>> {
    const { config, policy, models, signal } = this.session;
    const { report } = await evaluate(
      {
        config: { ...config, top: stage.body },
        tasks,
        algorithm: new Algorithm(stage.body, this.components.context(stage.body)),
        scorer: this.components.scorer(stage.body),
        hosts: this.components.hosts(stage.body),
        policy,
        models,
        signal,
      },
      clock,
    );
    return Object.fromEntries(
      Object.entries(report.metrics).flatMap(([name, value]) => {
        const measure = /^eval\/(pass@\d+|greedy)$/.exec(name)?.[1];
        return measure === undefined ? [] : [[`eval/${stage.name}/${measure}`, value]];
      }),
    );
  }
}
