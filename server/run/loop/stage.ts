/** The methods of one stage, and what outlives it: curricula, scorers and task sources that later stages share. */
import type { Stage } from "../step/context.ts";
import { fingerprint } from "../../core/fingerprint.ts";
import { Algorithm, contextOf } from "../../algorithm/algorithm.ts";
import { create } from "../../core/create.ts";
import { Curriculum, type DrawnTask } from "../../algorithm/curriculum/curriculum.ts";
import { openSources } from "../../algorithm/curriculum/openSources.ts";
import { branches } from "../../core/config/branchFacts.ts";
import { stageBefore } from "../../config/build/crossfade.ts";
import type { OptimizerChoice } from "../../core/slots/optimizer.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import type { CreateContext, StageBody } from "../../core/config/resolved.ts";
import type { Memory } from "../../methods/replay/memory.ts";
import type { Branching } from "../../core/slots/branching.ts";
import { Scorer } from "../../algorithm/rewards/scoring.ts";
import { Calibration } from "../step/score/calibration.ts";
import type { Random } from "../../lib/random.ts";
import type { Start } from "../../core/slots/guidance.ts";
import type { Saved, Stateful } from "../../core/basics.ts";
import type { Models, Tokenizer } from "../../core/policy.ts";
import type { GeneratedTasks } from "../../methods/generation/generatedTasks.ts";
import type { Sharing } from "../../algorithm/curriculum/openTasks.ts";
import { capacities, Ledger, sourcesOf } from "../stages/ledger.ts";
import { AuxiliaryLosses } from "../stages/auxiliary.ts";
import { prepareAuxiliary, prepareReplay } from "./prepare.ts";
import { Guide } from "../step/help/guide.ts";
import { partNames } from "../checkpoint/identity.ts";
import { memoryOf, Replay } from "../step/replay/replay.ts";
import type { StartNote } from "../models/trainable.ts";

const leftOutOfHelp = (message: string): StartNote => ({
  name: "rollouts-left-out",
  message: `${message}.`,
  action: "Name a log of rollouts that trained.",
});

/** What methods are made with. */
export interface Outside {
  readonly random: Random;
  readonly models: Models;
  readonly tokenizer: Tokenizer;
}

/** Makes the methods of stages, once for each distinct choice, and saves those with state. */
export class Parts {
  private readonly calibration = new Calibration();
  private readonly ledger = new Ledger();
  private readonly algorithms = new Map<string, Algorithm>();
  private readonly curricula = new Map<string, Curriculum>();
  /** Tasks made in the run: stages that ask for them alike go on with what was seen and made. */
  private readonly generated = new Map<string, GeneratedTasks>();
  private readonly scorers = new Map<string, Scorer>();
  private readonly starts = new Map<string, Start>();
  private readonly guides = new Map<string, Guide | undefined>();
  private readonly memories = new Map<string, Memory>();
  private readonly auxiliaries = new Map<string, AuxiliaryLosses>();
  /** State of methods that have not been made again since the checkpoint was read. */
  private waiting = new Map<string, Saved>();
  /** The same of what steps add to only when they are done: no given-up step has to put it back. */
  private waitingLasting = new Map<string, Saved>();

  constructor(private readonly outside: Outside) {}

  context(body: StageBody): CreateContext {
    return contextOf(body, this.outside);
  }

  /** @param stages of the whole run, where the stage is to know of others */
  stage(config: StageConfig, stages: readonly StageConfig[] = []): Stage {
    const { body } = config;
    const index = stages.indexOf(config);
    const capacity = capacities(stages)[index] ?? 0;
    const before = stageBefore(stages, index);
    const { carryOver } = config.on_enter;
    return {
      config,
      context: this.context(body),
      algorithm: this.algorithm(body),
      curriculum: this.curriculum(body),
      scorer: this.scorer(body),
      replay: this.replay(body),
      auxiliary: this.auxiliary(body),
      guide: this.guide(body),
      start: this.start(body),
      shape: create(body.rollout.shape, this.context(body)),
      branching: this.branching(body),
      calibration: this.calibration,
      fading:
        config.crossfade?.tasks === true && before !== undefined ? this.curriculum(before.body) : undefined,
      carried: carryOver && {
        share: carryOver.share,
        candidates: this.ledger.candidates(sourcesOf(stages, index, carryOver), carryOver),
      },
      remember: (groups) => this.ledger.observe(index, groups, capacity),
    };
  }

  /** A stage or a setting that changes nothing of the advantage goes on with what its baseline remembers. */
  private algorithm(body: StageBody): Algorithm {
    const name = partNames.algorithm(body);
    const made = new Algorithm(body, this.context(body));
    const saved = this.algorithms.get(name)?.save() ?? this.waiting.get(name);
    if (saved !== undefined) made.load(saved);
    this.algorithms.set(name, made);
    return made;
  }

  /** Stages whose rollouts come from the same place and are kept by the same rule share what they keep. */
  replay(body: StageBody): Replay {
    const { replay } = body;
    const context = this.context(body);
    const memory = this.lasting(this.memories, partNames.replay(body), () => memoryOf(replay, context));
    return new Replay(replay, memory, context);
  }
  auxiliary(body: StageBody): AuxiliaryLosses {
    return this.lasting(
      this.auxiliaries,
      partNames.auxiliary(body),
      () => new AuxiliaryLosses(body.auxiliary, this.context(body)),
    );
  }
  private lasting<Part extends Stateful>(known: Map<string, Part>, name: string, make: () => Part): Part {
    const found = known.get(name);
    if (found !== undefined) return found;
    const made = make();
    known.set(name, made);
    const saved = this.waitingLasting.get(name);
    if (saved !== undefined) made.load(saved);
    return made;
  }

  /** Optimisers that auxiliary losses have for themselves, by their names. */
  optimizers(): Map<string, OptimizerChoice> {
    const own = [...this.auxiliaries.values()].flatMap(({ demonstrations }) => demonstrations);
    return new Map(
      own.flatMap(({ name, optimizer }) => (optimizer === undefined ? [] : [[name, optimizer]])),
    );
  }

  /**
   * Reads the files that replay, auxiliary losses and guidance name.
   * @param top what evaluation asks is its
   * @returns what to tell of them
   */
  async prepare(body: StageBody, top: StageBody): Promise<readonly StartNote[]> {
    const context = this.context(body);
    const reader = {
      body,
      policy: this.outside.models.get("policy"),
      algorithm: new Algorithm(body, context),
      evaluated: openSources(top.tasks, this.context(top)).map(({ source }) => source),
    };
    return [
      ...(await prepareReplay(this.replay(body), reader)),
      ...(await prepareAuxiliary(this.auxiliary(body), reader)),
      ...(this.guide(body)?.source.prepare?.() ?? []).map(leftOutOfHelp),
    ];
  }

  curriculum(body: StageBody): Curriculum {
    const name = partNames.curriculum(body);
    const known = this.curricula.get(name);
    if (known !== undefined) return known;
    const context = this.context(body);
    const sources = openSources(body.tasks, context, this.sharing);
    const made = new Curriculum(body.curriculum, sources, context);
    made.record();
    const saved = this.waiting.get(name);
    if (saved !== undefined) made.load(saved);
    this.curricula.set(name, made);
    return made;
  }

  private readonly sharing: Sharing = (likeness, make) => {
    const name = `generated/${likeness}`;
    const known = this.generated.get(name);
    if (known !== undefined) return known;
    const made = make();
    const saved = this.waiting.get(name);
    if (saved !== undefined) made.load(saved);
    this.generated.set(name, made);
    return made;
  };

  /** Stages that are helped alike go on with what their guidance knows. */
  private guide(body: StageBody): Guide | undefined {
    const name = partNames.guidance(body);
    if (this.guides.has(name)) return this.guides.get(name);
    const made = Guide.of(body, this.context(body));
    const saved = this.waiting.get(name);
    if (saved !== undefined) made?.load(saved);
    this.guides.set(name, made);
    return made;
  }

  /** Branching knows nothing from one step to the next. */
  private branching(body: StageBody): Branching | undefined {
    return branches(body.rollout) ? create(body.rollout.branch, this.context(body)) : undefined;
  }

  /** Stages that draw alike from the same tasks go on with what their start states know. */
  private start(body: StageBody): Start {
    const name = partNames.start(body);
    const known = this.starts.get(name);
    if (known !== undefined) return known;
    const made = create(body.curriculum.start, this.context(body));
    const saved = this.waiting.get(name);
    if (saved !== undefined) made.load?.(saved);
    this.starts.set(name, made);
    return made;
  }

  scorer(body: StageBody): Scorer {
    // A term's weight is the algorithm's: another one needs no other scorer.
    const terms = body.reward.terms.map((term) => ({ ...term, weight: 1 }));
    const name = fingerprint([{ ...body.reward, terms }, body.rollout.group, body.rollout.max_tokens]);
    const known = this.scorers.get(name) ?? new Scorer(body.reward, this.context(body));
    this.scorers.set(name, known);
    return known;
  }

  /** All state: of curricula, and of what lasts. */
  save(): Record<string, Saved> {
    const lasting = [...this.memories, ...this.auxiliaries].map(([name, part]): [string, Saved] => [
      name,
      part.save(),
    ]);
    const ledger = this.ledger.empty ? {} : { ledger: this.ledger.save() };
    return { ...this.boundary(), ...ledger, ...Object.fromEntries([...this.waitingLasting, ...lasting]) };
  }

  /** What a step that is given up must not have changed. */
  boundary(): Record<string, Saved> {
    const made = this.stateful.flatMap(([name, part]): [string, Saved][] => {
      const saved = part?.save?.();
      return saved === undefined ? [] : [[name, saved]];
    });
    return Object.fromEntries([["mismatch", this.calibration.save()], ...this.waiting, ...made]);
  }

  private get stateful(): [string, { save?(): Saved | undefined; load?(saved: Saved): void } | undefined][] {
    return [...this.generated, ...this.curricula, ...this.algorithms, ...this.starts, ...this.guides];
  }

  load(saved: Readonly<Record<string, Saved>>): void {
    const { mismatch, ledger } = saved;
    if (mismatch !== undefined) this.calibration.load(mismatch);
    if (ledger !== undefined) this.ledger.load(ledger);
    this.waiting = new Map(
      Object.entries(saved).filter(([name]) =>
        /^(generated|curriculum|algorithm|start|guidance)\//.test(name),
      ),
    );
    // A curriculum that is put back looks at the tasks there are.
    for (const [name, part] of this.stateful) {
      const own = this.waiting.get(name);
      if (own !== undefined) part?.load?.(own);
    }
    const lasting = Object.entries(saved).filter(([name]) => /^(replay|auxiliary)\//.test(name));
    if (lasting.length === 0) return;
    this.waitingLasting = new Map(lasting);
    for (const [name, part] of [...this.memories, ...this.auxiliaries]) {
      const own = this.waitingLasting.get(name);
      if (own !== undefined) part.load(own);
    }
  }

  /** Ends the processes of user rewards. */
  async close(): Promise<void> {
    await Promise.all([...this.scorers.values()].map((scorer) => scorer.close()));
  }
}

/**
 * Up to `n` distinct held-out tasks, spread evenly over the sources and their values. The sources are opened afresh,
 * so training's cursors stay where they are and every evaluation of a run asks the same.
 */
export function heldOut(body: StageBody, context: CreateContext, n: number): DrawnTask[] {
  const sources = openSources(body.tasks, context);
  // Only its arms: what a curriculum knows of the tasks that train may not be there for these.
  const division = create(body.curriculum.arms, context)(sources);
  const random = context.random.fork("held-out");
  const found = new Map<string, DrawnTask>();
  let open = sources.flatMap(({ source }) =>
    (source.values.length === 0 ? [undefined] : source.values).map((value) => ({ source, value, misses: 0 })),
  );
  for (let turn = 0; found.size < n && open.length > 0; turn++) {
    for (const place of open) {
      if (found.size >= n) break;
      const task = place.source.draw(
        "evaluate",
        place.value,
        random.fork(place.source.name, place.value ?? "", turn),
      );
      const fresh = task !== null && !found.has(task.id);
      if (fresh) found.set(task.id, { task, arm: division.familyOf(task) });
      place.misses = fresh ? 0 : task === null ? Number.POSITIVE_INFINITY : place.misses + 1;
    }
    // Hundreds of repeats in a row: what this place still has is too rare to wait for.
    open = open.filter((place) => place.misses < 300);
  }
  return [...found.values()];
}
