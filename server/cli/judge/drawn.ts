/** Rollouts to label: of a run the store draws them, of a file this process does. */
import { existsSync } from "node:fs";
import { ask } from "../../../shared/daemon/request.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { judgeDraw, type DrawnRollout } from "../../../shared/protocol/protocol.ts";
import { rolloutKey, scoreOf, type LabelledRollout } from "../../../shared/rollouts/labels.ts";
import { drawForLabels } from "../../analysis/judge/draw.ts";
import { readRollouts } from "../../analysis/recorded.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { randomStream } from "../../lib/random.ts";
import { runNamed, storeNear } from "../rolloutsOf.ts";
import { withDaemon } from "../runs/store.ts";

interface Drawing {
  readonly term: string;
  readonly count: number;
  readonly seed: number;
  readonly step?: number;
  readonly store?: string;
  readonly known: readonly LabelledRollout[];
}

/** @param words a file, or a run as `--rollouts` names one */
export async function drawnFrom(
  words: string,
  config: RunConfig,
  { term, count, seed, step, store, known }: Drawing,
): Promise<readonly DrawnRollout[]> {
  if (existsSync(words) || /[./\\]/.test(words)) return drawnOfFile(words, { term, count, seed, known });
  return withDaemon(store ?? storeNear(config.file), async (connection) => {
    const { id } = await runNamed(connection, words, config);
    const own = known.filter(({ row }) => row.run === id);
    const { drawn } = await ask(connection, judgeDraw, {
      run: id,
      term,
      count: Math.max(1, count - (known.length - own.length)),
      seed,
      ...(step !== undefined && { step }),
      known: own.map(({ row }) => ({ step: row.step, group: String(row.group), index: row.index })),
    });
    return drawn;
  });
}

async function drawnOfFile(
  file: string,
  { term, count, seed, known }: Drawing,
): Promise<readonly DrawnRollout[]> {
  const all = await readRollouts(file);
  const candidates = all.flatMap(({ row }) => {
    const score = scoreOf(row, term);
    return score === null || row.use === "evaluate" || row.use === "estimate" ? [] : [{ row, score }];
  });
  if (candidates.length === 0)
    throw new UserError(`no rollout has a score of \`${term}\``, {
      file,
      code: "judge-none",
      action: "Name a term that gives a rollout one number: the key `rewards` of a line has them.",
    });
  const labelled = new Set(known.map(({ row }) => rolloutKey(row)));
  const drawn = drawForLabels(
    candidates.map(({ score }) => score),
    count,
    randomStream(seed, "judge-labels", term),
    (at) => labelled.has(rolloutKey(candidates[at]!.row)),
  );
  return drawn.map(({ at, weight }) => ({ ...candidates[at]!, weight }));
}
