/** A run's evaluations: the same held-out tasks every time, the answers that are kept of them, and how each task went. */
import { Algorithm } from "../../algorithm/algorithm.ts";
import { evaluationTasks } from "../../algorithm/curriculum/evaluationTasks.ts";
import { taskResults } from "../../analysis/evaluation/taskResults.ts";
import type { Clock } from "../../core/basics.ts";
import type { Session } from "../loop/session.ts";
import type { StageComponents } from "../loop/stageComponents.ts";
import { evaluationRecord } from "../step/log/rolloutRecord.ts";
import type { Appended } from "../step/log/recorder.ts";
import { evaluate, type Answered, type Examination } from "./evaluate.ts";
import { EvaluationProgress } from "./evaluationProgress.ts";
import { sized, type EvaluationPlan } from "./evaluationSize.ts";

export class HeldOutExam {
  private plan: EvaluationPlan | undefined;

  constructor(
    private readonly session: Session,
    private readonly components: StageComponents,
    /** Folder of the run; undefined: nothing is kept. */
    private readonly folder: string | undefined,
  ) {}

  async take(role: "first" | "periodic" | "last", clock: Clock): Promise<Readonly<Record<string, number>>> {
    const { config, recorder } = this.session;
    const exam = await this.examination(clock);
    const records: Appended[] = [];
    const total = exam.tasks.length * (1 + config.evaluation.samples);
    const progress = new EvaluationProgress(total, ({ message, data }) => {
      recorder.event("info", "evaluating", message, { data });
      recorder.commit();
    });
    const { report, tasks } = await evaluate(exam, clock, (answered) => {
      records.push(...this.answerRecords(answered));
      progress.add(answered.batch.rows);
    });
    const { metrics } = report;
    // After the last of the messages, each of which ends a commit: an evaluation is kept whole or not at all.
    for (const record of records) recorder.append(record);
    const results = taskResults(
      exam.tasks.map(({ task }) => task.id),
      tasks,
      config.top.reward.gold,
    );
    recorder.append({ kind: "evaluation", step: recorder.step, time: Date.now(), role, metrics, results });
    return metrics;
  }

  /** The config is another one. The held-out tasks stay: only what is read of the methods may have changed. */
  renew(): void {
    const { top } = this.session.config;
    if (this.plan !== undefined)
      this.plan = { ...this.plan, algorithm: new Algorithm(top, this.components.context(top)) };
  }

  private async examination(clock: Clock): Promise<Examination> {
    const { config, policy, models, recorder, signal } = this.session;
    const work = {
      config,
      scorer: this.components.scorer(config.top),
      policy,
      models,
      signal,
      hosts: this.components.hosts(config.top),
      harness: this.components.harness(config.top),
    };
    this.plan ??= await sized({ ...work, ...this.whole() }, clock, recorder, this.folder);
    return { ...work, ...this.plan };
  }

  /** All tasks that the config asks for, as far as there are so many. */
  private whole(): EvaluationPlan {
    const { config, recorder } = this.session;
    const context = this.components.context(config.top);
    const tasks = evaluationTasks(config, context);
    if (tasks.length < config.evaluation.prompts && config.evaluation.unsolved_by === undefined) {
      recorder.event(
        "warning",
        "few-held-out",
        `There ${tasks.length === 1 ? "is 1 held-out task" : `are ${tasks.length} held-out tasks`}, but evaluation.prompts asks for ${config.evaluation.prompts}.`,
        { action: "Widen the tasks' parameters, add data, or lower evaluation.prompts." },
      );
    }
    return { tasks, algorithm: new Algorithm(config.top, context) };
  }

  /** As many greedy answers as drawn ones, of the same first tasks: what the model says, not every number. */
  private answerRecords(answered: Answered): Appended[] {
    const { config, recorder } = this.session;
    const { record } = config.evaluation;
    const most = answered.greedy ? Math.ceil(record / 2) : Math.floor(record / 2);
    return [...answered.task].flatMap((task, row): Appended[] => {
      if (task >= most || answered.batch.records[row]!.index > 0) return [];
      const index = 2 * task + (answered.greedy ? 0 : 1);
      const { step } = recorder;
      return [{ kind: "rollout", step, index, ...evaluationRecord(step, answered, row) }];
    });
  }
}
