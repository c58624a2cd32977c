/** A config's run as far as its curriculum goes: it draws a step's tasks, and observes what another trainer made of them. */
import { z } from "zod";
import { Algorithm, contextOf } from "../../../algorithm/algorithm.ts";
import { Curriculum } from "../../../algorithm/curriculum/curriculum.ts";
import type { Fault } from "../../../algorithm/curriculum/curriculumFaults.ts";
import { capacities, Ledger, sourcesOf } from "../../../algorithm/curriculum/ledger.ts";
import { measureCurriculum } from "../../../algorithm/curriculum/measureCurriculum.ts";
import { namedGroups } from "../../../algorithm/curriculum/namedGroups.ts";
import { openSources } from "../../../algorithm/curriculum/openSources.ts";
import { drawTasks, drawStream, type StageDraw } from "../../../algorithm/curriculum/stageDraw.ts";
import { standing, type ReplayedStep } from "../../../analysis/history/standing.ts";
import { noModels } from "../../../analysis/rescore/noModels.ts";
import { stageBefore } from "../../../config/build/crossfade.ts";
import type { Clock, Saved } from "../../../core/basics.ts";
import type { RunConfig } from "../../../core/config/runConfig.ts";
import type { StageBody } from "../../../core/config/resolved.ts";
import type { StageConfig } from "../../../core/config/stageConfig.ts";
import type { CreateContext } from "../../../core/declaration.ts";
import { fingerprint } from "../../../core/fingerprint.ts";
import type { Group } from "../../../core/rollouts.ts";
import { joined, partOf } from "../../../core/saved.ts";
import { SharedByFingerprint } from "../../../core/state/sharedByFingerprint.ts";
import type { Task } from "../../../core/task.ts";
import type { Verdict } from "../../../core/slots/curriculum.ts";
import { randomStream } from "../../../lib/random.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import { drawnSchema, tasksIn, type DrawnStep, type NamedTask } from "./drawnStep.ts";
import { outcomesOf } from "./outcomes.ts";
import type { DrawRequest, ObserveRequest } from "./requests.ts";
import { cursorSchema, cursorWith, firstCursor, nextMoment, type StageCursor } from "./stageCursor.ts";

/** What was decided of a step: a line of `decisions.jsonl`. */
export interface Decision extends ReplayedStep {
  /** As the trainer counts. */
  readonly trainer_step?: number;
  /** Groups that do not train, and why. */
  readonly rejected: readonly { readonly task: string; readonly reason: string }[];
  /** Drawn tasks that nothing was reported of. */
  readonly missing: readonly string[];
  /** The last step whose outcomes the draw knew; −1: none. */
  readonly drawn_after: number;
  /** `curriculum/<arm>/share` and the like, as a run logs them. */
  readonly metrics: Readonly<Record<string, number>>;
  readonly faults: readonly Fault[];
}

interface Draw {
  readonly drawn: DrawnStep;
  /** Of the round that was asked for. */
  readonly tasks: readonly NamedTask[];
  readonly isNew: boolean;
}

/** Arms of which a decision says everything; of more, those that were drawn. */
const mostArms = 2048;
/** Observed steps whose draws are remembered: a trainer may ask for a batch again. */
const remembered = 2;

const stateSchema = z.object({
  observed: z.number().int(),
  cursor: cursorSchema,
  drawn: z.array(drawnSchema),
});

export class ServedCurriculum {
  /** The last step whose outcomes are known. */
  observed = -1;
  private cursor: StageCursor = firstCursor;
  private readonly drawn = new Map<number, DrawnStep>();
  private readonly ledger = new Ledger();
  private readonly restored = new Map<string, Saved>();
  private readonly curricula = new SharedByFingerprint<Curriculum>(this.restored);
  private readonly algorithms = new SharedByFingerprint<Algorithm>(this.restored);
  /** Of the algorithm that observed last. */
  private present = -1;

  /** @throws UserError where no stage draws tasks */
  constructor(private readonly config: RunConfig) {
    if (config.stages.some(({ kind }) => kind === "rl")) return;
    throw new UserError("the config has no rl stage, so its curriculum draws nothing", {
      code: "no-rl-stage",
      action: "Add a stage of `kind: rl`, or leave `stages` out.",
    });
  }

  /** The last step that was drawn. */
  get begun(): number {
    return this.cursor.rl - 1;
  }

  /** The same draw is answered with the same tasks. @throws UserError for a draw that is out of order */
  async draw({ step, prompts, round }: DrawRequest): Promise<Draw> {
    const known = this.drawn.get(step);
    const before = known?.rounds[round];
    if (known !== undefined && before !== undefined) {
      const differs = prompts !== undefined && prompts !== before.prompts;
      if (differs) throw otherwise(step, round, before.prompts, prompts);
      return { drawn: known, tasks: before.tasks, isNew: false };
    }
    this.checkOrder(step, round, known);
    const begun = known ?? this.begin(step);
    const stage = this.config.stages[begun.index]!;
    const wanted = prompts ?? this.asks(stage, begun.clock);
    const names = new Set(tasksIn(begun).map(({ id }) => id));
    const arms = new Set(begun.taken);
    const random = drawStream(this.config.seed, step, round);
    const found = await drawTasks(this.sourcesOf(begun.index), wanted, random, begun.clock, arms);
    const tasks = namedGroups(found, names).map(({ group, ...rest }): NamedTask => ({ ...rest, id: group }));
    const drawn = { ...begun, taken: [...arms], rounds: [...begun.rounds, { prompts: wanted, tasks }] };
    this.drawn.set(step, drawn);
    return { drawn, tasks, isNew: true };
  }

  /** Of the drawn tasks, the one that a prompt asks; else a source's that can read it. */
  taskOf(prompt: string): Task | undefined {
    const held = [...this.drawn.values()]
      .flatMap(tasksIn)
      .map(({ task }) => task)
      .filter((task) => task.prompt !== "" && prompt.includes(task.prompt));
    const [found] = held.sort((one, other) => other.prompt.length - one.prompt.length);
    if (found !== undefined) return found;
    for (const { source } of this.curricula.values.flatMap(({ sources }) => sources)) {
      const read = source.read?.(prompt);
      if (read) return read;
    }
    return undefined;
  }

  private asks({ body }: StageConfig, clock: Clock): number {
    return this.curriculumOf(body).asks(body.rollout.prompts, clock);
  }

  private checkOrder(step: number, round: number, known: DrawnStep | undefined): void {
    const next = this.begun + 1;
    if (step <= this.observed)
      throw outOfOrder(`step ${step} has been observed; the next step to draw is ${next}`, next);
    if (known === undefined && step !== next)
      throw outOfOrder(`step ${step} comes too early; the next step to draw is ${next}`, next);
    const rounds = known?.rounds.length ?? 0;
    if (round !== rounds)
      throw outOfOrder(`the next draw of step ${step} is round ${rounds}, not ${round}`, step);
  }

  private begin(step: number): DrawnStep {
    const { moment, after } = nextMoment(this.config.stages, this.cursor);
    this.cursor = after;
    return { step, ...moment, after: this.observed, taken: [], rounds: [] };
  }

  /**
   * Takes the outcomes of the next step.
   * @throws UserError for another step, a task that was not drawn, or rewards that do not fit the config; nothing has changed then
   */
  observe({ step, groups: reported, metrics: more = {}, trainer_step }: ObserveRequest): Decision {
    const next = this.observed + 1;
    if (step !== next)
      throw outOfOrder(`step ${step} cannot be observed; the next step to observe is ${next}`, next);
    const drawn = this.drawn.get(step);
    if (drawn === undefined) throw outOfOrder(`step ${step} has not been drawn`, next);
    const tasks = tasksIn(drawn);
    const byTask = new Map(reported.map((group) => [group.task, group]));
    checkTasks(
      step,
      tasks,
      reported.map(({ task }) => task),
    );
    const stage = this.config.stages[drawn.index]!;
    const { groups, metrics } = outcomesOf(this.algorithmOf(drawn.index), drawn.clock, tasks, byTask);
    const curriculum = this.curriculumOf(stage.body);
    const wanted = Math.max(stage.body.rollout.prompts, drawn.rounds[0]?.prompts ?? 0);
    const verdicts = curriculum.verdicts(groups, wanted);
    curriculum.observe(groups, verdicts, drawn.clock);
    this.ledger.observe(drawn.index, groups, capacities(this.config.stages)[drawn.index] ?? 0);
    const own = measureCurriculum(curriculum, groups);
    this.observed = step;
    this.cursor = cursorWith(this.config.stages, this.cursor, drawn.holder, { ...metrics, ...own, ...more });
    for (const old of this.drawn.keys()) if (old <= step - remembered) this.drawn.delete(old);
    return {
      step,
      ...(trainer_step !== undefined && { trainer_step }),
      ...this.standing(curriculum, drawn.clock, groups),
      ...judged(tasks, groups, verdicts),
      stage: stage.name,
      missing: tasks.flatMap(({ id }) => (byTask.has(id) ? [] : [id])),
      drawn_after: drawn.after,
      metrics: own,
      faults: curriculum.faults(),
    };
  }

  /** As it stands for the next draw. */
  private standing(
    curriculum: Curriculum,
    { step, stageStep }: Clock,
    groups: readonly Group[],
  ): Pick<Decision, "estimates" | "probabilities" | "simulated"> {
    const all = standing(curriculum, { step: step + 1, stageStep: stageStep + 1 });
    if (curriculum.arms.size <= mostArms) return all;
    const arms = new Set(groups.map(({ arm }) => arm));
    const ofThose = <Value>(values: Readonly<Record<string, Value>>): Record<string, Value> =>
      Object.fromEntries(Object.entries(values).filter(([arm]) => arms.has(arm)));
    return { ...all, estimates: ofThose(all.estimates), probabilities: ofThose(all.probabilities) };
  }

  // ─────────────────────────────────────────────────────────────── parts

  private context(body: StageBody): CreateContext {
    return contextOf(body, { random: randomStream(this.config.seed, "methods"), models: noModels });
  }
  private curriculumOf(body: StageBody): Curriculum {
    const { tasks, curriculum } = body;
    return this.curricula.get(`curriculum/${placeless([tasks, curriculum])}`, () => {
      const context = this.context(body);
      return new Curriculum(curriculum, openSources(tasks, context), context);
    });
  }
  /** A stage goes on with what the baseline remembers of those before, where it changes nothing of the advantage. */
  private algorithmOf(index: number): Algorithm {
    // Of rewards alone: what reads tokens or log-probs has nothing to read.
    const body = { ...this.config.stages[index]!.body, kl: [], mask: [] };
    const key = `algorithm/${placeless([body.advantage])}`;
    const make = (): Algorithm => new Algorithm(body, this.context(body));
    const isSame = this.present === index;
    this.present = index;
    return isSame ? this.algorithms.get(key, make) : this.algorithms.renew(key, make);
  }
  private sourcesOf(index: number): StageDraw {
    const { stages } = this.config;
    const { body, crossfade, on_enter } = stages[index]!;
    const { carryOver } = on_enter;
    const before = stageBefore(stages, index);
    return {
      curriculum: this.curriculumOf(body),
      crossfade,
      fading: crossfade?.tasks === true && before !== undefined ? this.curriculumOf(before.body) : undefined,
      carried: carryOver && {
        share: carryOver.share,
        candidates: this.ledger.candidates(sourcesOf(stages, index, carryOver), carryOver),
      },
    };
  }

  // ─────────────────────────────────────────────────────────────── state

  save(): Saved {
    const { observed, cursor, drawn } = this;
    const own: JsonObject = JSON.parse(JSON.stringify({ observed, cursor, drawn: [...drawn.values()] }));
    const parts = Object.fromEntries([
      ...this.restored,
      ...this.curricula.saved(),
      ...this.algorithms.saved(),
    ]);
    return joined({ own: { json: own }, ledger: this.ledger.save(), ...parts });
  }

  /** Into one that has done nothing yet. */
  load(saved: Saved): void {
    const { observed, cursor, drawn } = stateSchema.parse(partOf(saved, "own").json);
    this.observed = observed;
    this.cursor = cursor;
    for (const one of drawn) this.drawn.set(one.step, one);
    this.ledger.load(partOf(saved, "ledger"));
    const names = Object.keys(z.record(z.string(), z.json()).parse(saved.json));
    for (const name of names)
      if (/^(curriculum|algorithm)\//.test(name)) this.restored.set(name, partOf(saved, name));
  }
}

/** A project may be moved, and started from any folder: a choice is the same wherever its files lie. */
const placeless = (choices: readonly unknown[]): string =>
  fingerprint(
    JSON.stringify(choices, (key, part: unknown) => {
      if (key === "declaration") return undefined;
      const isChoice = typeof part === "object" && part !== null && "use" in part && "folder" in part;
      return isChoice ? { ...part, folder: undefined } : part;
    }),
  );

function judged(
  tasks: readonly NamedTask[],
  groups: readonly Group[],
  verdicts: readonly Verdict[],
): Pick<Decision, "admitted" | "rejected"> {
  const all = tasks.map(({ id }, i) => ({ id, verdict: verdicts[i]!, has: groups[i]!.rewards.length > 0 }));
  return {
    admitted: all.flatMap(({ id, verdict, has }) => (verdict.admitted && has ? [id] : [])),
    rejected: all.flatMap(({ id, verdict }) =>
      verdict.admitted ? [] : [{ task: id, reason: verdict.reason }],
    ),
  };
}

function checkTasks(step: number, tasks: readonly NamedTask[], reported: readonly string[]): void {
  const drawn = new Set(tasks.map(({ id }) => id));
  const other = reported.find((id) => !drawn.has(id));
  if (other !== undefined)
    throw new UserError(`step ${step} did not draw the task ${JSON.stringify(other)}`, {
      code: "service-task",
      action: `Report tasks by the \`id\` that the draw gave them: ${[...drawn].slice(0, 3).join(", ")}${drawn.size > 3 ? ", …" : ""}.`,
    });
  const twice = reported.find((id, i) => reported.indexOf(id) !== i);
  if (twice === undefined) return;
  throw new UserError(`the task ${JSON.stringify(twice)} is reported twice`, {
    code: "service-task",
    action: "Report all rollouts of a task as one group.",
  });
}

/** The service is at another step than its trainer. */
export class OutOfOrder extends UserError {
  constructor(
    message: string,
    readonly expected: number,
  ) {
    super(message, {
      code: "service-order",
      action: "A trainer that goes on from a checkpoint restores the checkpoint's step first: POST /restore.",
    });
  }
}
const outOfOrder = (message: string, expected: number): OutOfOrder => new OutOfOrder(message, expected);

const otherwise = (step: number, round: number, before: number, now: number): UserError =>
  new UserError(`round ${round} of step ${step} was drawn with ${before} prompts, not ${now}`, {
    code: "service-order",
    action: "Ask for the same number again, or for the next round.",
  });
