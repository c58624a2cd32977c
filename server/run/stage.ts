/** The methods of one stage, and what outlives it: curricula, scorers and task sources that later stages share. */
import { createHash } from "node:crypto";
import {
  Algorithm,
  contextOf,
  Curriculum,
  openSources,
  type DrawnTask,
  type SourceOf,
} from "../algorithm.ts";
import { valueAt } from "../config/declaration.ts";
import type { CreateContext, StageBody, StageConfig } from "../config/resolved.ts";
import { Scorer } from "../scoring.ts";
import { Calibration } from "./mismatch.ts";
import type { Clock, Models, Random, Saved, Tokenizer } from "../seams.ts";
import { UserError } from "../../shared/errors.ts";

export interface Stage {
  readonly config: StageConfig;
  readonly algorithm: Algorithm;
  readonly curriculum: Curriculum;
  readonly scorer: Scorer;
  /** The run's own, whatever the stage. */
  readonly calibration: Calibration;
}

/** What methods are made with. */
export interface Outside {
  readonly random: Random;
  readonly models: Models;
  readonly tokenizer: Tokenizer;
}

/** Equal choices have equal fingerprints: a stage that changes nothing of the curriculum goes on with what it knows. */
const fingerprint = (value: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(value, (key, part: unknown) => (key === "declaration" ? undefined : part)))
    .digest("hex")
    .slice(0, 12);

/** Makes the methods of stages, once for each distinct choice, and saves those with state. */
export class Parts {
  private readonly calibration = new Calibration();
  private readonly algorithms = new Map<string, Algorithm>();
  private readonly curricula = new Map<string, Curriculum>();
  private readonly scorers = new Map<string, Scorer>();
  /** State of methods that have not been made again since the checkpoint was read. */
  private waiting = new Map<string, Saved>();

  constructor(private readonly outside: Outside) {}

  context(body: StageBody): CreateContext {
    return contextOf(body, this.outside);
  }

  stage(config: StageConfig): Stage {
    const { body } = config;
    return {
      config,
      algorithm: this.algorithm(body),
      curriculum: this.curriculum(body),
      scorer: this.scorer(body),
      calibration: this.calibration,
    };
  }

  /** A stage or a setting that changes nothing of the advantage goes on with what its baseline remembers. */
  private algorithm(body: StageBody): Algorithm {
    const name = `algorithm/${fingerprint([body.advantage])}`;
    const made = new Algorithm(body, this.context(body));
    const saved = this.algorithms.get(name)?.save() ?? this.waiting.get(name);
    if (saved !== undefined) made.load(saved);
    this.algorithms.set(name, made);
    return made;
  }

  curriculum(body: StageBody): Curriculum {
    const name = `curriculum/${fingerprint([body.tasks, body.curriculum])}`;
    const known = this.curricula.get(name);
    if (known !== undefined) return known;
    const context = this.context(body);
    const made = new Curriculum(body.curriculum, openSources(body.tasks, context), context);
    const saved = this.waiting.get(name);
    if (saved !== undefined) made.load(saved);
    this.curricula.set(name, made);
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

  save(): Record<string, Saved> {
    const made = [...this.curricula, ...this.algorithms].map(([name, part]): [string, Saved] => [
      name,
      part.save(),
    ]);
    return Object.fromEntries([["mismatch", this.calibration.save()], ...this.waiting, ...made]);
  }

  load(saved: Readonly<Record<string, Saved>>): void {
    const { mismatch } = saved;
    if (mismatch !== undefined) this.calibration.load(mismatch);
    this.waiting = new Map(Object.entries(saved).filter(([name]) => /^(curriculum|algorithm)\//.test(name)));
    for (const [name, part] of [...this.curricula, ...this.algorithms]) {
      const own = this.waiting.get(name);
      if (own !== undefined) part.load(own);
    }
  }

  /** Ends the processes of user rewards. */
  async close(): Promise<void> {
    await Promise.all([...this.scorers.values()].map((scorer) => scorer.close()));
  }
}

/** Tasks by task weight alone: what supervised stages learn from. */
export function drawByWeight(curriculum: Curriculum, n: number, random: Random, clock: Clock): DrawnTask[] {
  return Array.from({ length: n }, (_, i) => {
    const stream = random.fork(i);
    let left: readonly SourceOf[] = curriculum.sources;
    while (left.length > 0) {
      const chosen = byWeight(left, stream, clock);
      const task = chosen.source.draw("train", undefined, stream);
      if (task !== null) return { task, arm: curriculum.armOf(task) };
      left = left.filter((one) => one !== chosen);
    }
    throw new UserError("The stage has no task left to draw.", {
      code: "tasks-empty",
      action: "Raise `epochs`, add data, or shorten the stage.",
    });
  });
}

function byWeight(sources: readonly SourceOf[], random: Random, clock: Clock): SourceOf {
  const weights = sources.map(({ config }) => valueAt(config.weight, clock));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  let left = random.next() * (sum > 0 ? sum : sources.length);
  return sources.find((_, i) => (left -= sum > 0 ? weights[i]! : 1) < 0) ?? sources[sources.length - 1]!;
}

/**
 * Up to `n` distinct held-out tasks, spread evenly over the sources and their values. The sources are opened afresh,
 * so training's cursors stay where they are and every evaluation of a run asks the same.
 */
export function heldOut(body: StageBody, context: CreateContext, n: number): DrawnTask[] {
  const sources = openSources(body.tasks, context);
  const curriculum = new Curriculum(body.curriculum, sources, context);
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
      if (fresh) found.set(task.id, { task, arm: curriculum.armOf(task) });
      place.misses = fresh ? 0 : task === null ? Number.POSITIVE_INFINITY : place.misses + 1;
    }
    // Hundreds of repeats in a row: what this place still has is too rare to wait for.
    open = open.filter((place) => place.misses < 300);
  }
  return [...found.values()];
}
