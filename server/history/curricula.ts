/** The curricula of a config's stages, over the arms that a history speaks of. */
import { Curriculum, contextOf, openSources } from "../algorithm.ts";
import { fingerprint } from "../algorithm/fingerprint.ts";
import type { StageConfig } from "../config/resolved.ts";
import { randomStream } from "../random.ts";
import { divisionOf } from "./arms.ts";
import type { HistoryGroup } from "./read.ts";

/** By what they are made of: stages that change nothing of theirs go on with what was learned. */
export class Curricula {
  private readonly made = new Map<string, Curriculum>();

  constructor(
    private readonly history: readonly HistoryGroup[],
    private readonly seed: number,
  ) {}

  of({ body }: StageConfig): Curriculum {
    const key = fingerprint([body.tasks, body.curriculum]);
    const known = this.made.get(key);
    if (known !== undefined) return known;
    const context = contextOf(body, { random: randomStream(this.seed, "replay") });
    const sources = openSources(body.tasks, context);
    const own = new Curriculum(body.curriculum, sources, context);
    const division = divisionOf(body, own, this.history);
    const curriculum =
      division === undefined ? own : new Curriculum(body.curriculum, sources, context, division);
    this.made.set(key, curriculum);
    return curriculum;
  }
}
